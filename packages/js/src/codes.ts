// Written by `cargo xtask generate` from `packages/api.toml`.

/** Codes of errors; the same strings in every language. */
export type ErrorCode =
  | "invalid_type"
  | "invalid_length"
  | "invalid_character"
  | "not_canonical"
  | "out_of_range"
  | "time_out_of_range"
  | "clock_behind"
  | "clock_failed"
  | "sequence_exhausted"
  | "lease_not_started"
  | "lease_expired"
  | "lease_mismatch"
  | "invalid_secret"
  | "invalid_layout"
  | "unknown_field"
  | "missing_field"
  | "partitions_exhausted"
  | "generator_closed"
  | "forked"
  | "entropy_unavailable"
  | "backend_unavailable";
