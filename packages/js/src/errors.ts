/** What went wrong; the same strings in every language. */
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

/** The members of an error beside its code. */
export interface ErrorDetails {
  position?: number;
  field?: string;
  retryAt?: number;
  written?: number;
  item?: number;
  cause?: unknown;
}

/**
 * Why a call was refused. Nothing was changed by it.
 *
 * Tell errors apart by `code`: the ESM and CJS copies of this package have a class each. What happened, why, and what to do for each
 * code: https://example.invalid/polyflake/blob/main/docs/errors.md
 */
export class PolyflakeError extends Error {
  /** The stable code, the same string in every language. */
  readonly code: ErrorCode;
  /** The 0-based index of the first bad character, in UTF-16 units. */
  declare readonly position?: number;
  /** The parameter, field or option that was refused. */
  declare readonly field?: string;
  /** When to try again, in Unix milliseconds. */
  declare readonly retryAt?: number;
  /** How many IDs were made before a batch was refused. */
  declare readonly written?: number;
  /** The 0-based index of the item that was refused, where there are many. */
  declare readonly item?: number;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.code = code;
    Object.assign(this, details);
  }

  override get name(): string {
    return "PolyflakeError";
  }
}

/** A value of the wrong type: never converted, and nothing of it is called to describe it. */
export function invalidType(expected: string, value: unknown, details?: ErrorDetails): PolyflakeError {
  const found = typeof value === "number" ? value : value === null ? "null" : typeof value;
  const place = details?.field === undefined ? "" : ` for \`${details.field}\``;
  return new PolyflakeError("invalid_type", `expected ${expected}${place}, found ${found}`, details);
}

/** The class of a value, or its type where it has none that can be told without calling anything of it but a proxy's traps. */
export function className(value: unknown): string {
  try {
    if (value === null) return "null";
    if (typeof value !== "object") return typeof value;
    const maker: unknown = dataOf(Object.getPrototypeOf(value), "constructor");
    const name = typeof maker === "function" ? dataOf(maker, "name") : undefined;
    return typeof name === "string" && name !== "" ? name.slice(0, 40) : "object";
  } catch {
    return "object";
  }
}

/** A member of an object's own that is no accessor. */
const dataOf = (object: object | null, name: string): unknown => object && Object.getOwnPropertyDescriptor(object, name)?.value;

/** A text or byte string of the wrong length. */
export function invalidLength(expected: number | string, found: number, details?: ErrorDetails): PolyflakeError {
  return new PolyflakeError("invalid_length", `expected length ${expected}, found ${found}`, details);
}

/** A number outside its limits, both inclusive. */
export function outOfRange(least: number | bigint, most: number | bigint, found: unknown, field: string): PolyflakeError {
  return new PolyflakeError("out_of_range", `expected ${field} from ${least} to ${most}, found ${found}`, { field });
}

/** The first bad character of a text: shown if it is printable ASCII, else by its number. */
export function invalidCharacter(text: string, position: number, details?: ErrorDetails): PolyflakeError {
  const code = text.charCodeAt(position);
  return badCode(code, "U+", position, details);
}

/** The first bad byte of some, as {@link invalidCharacter} has it. */
export function invalidByte(byte: number, position: number, details?: ErrorDetails): PolyflakeError {
  return badCode(byte, byte > 127 ? "byte 0x" : "U+", position, details);
}

function badCode(code: number, prefix: string, position: number, details?: ErrorDetails): PolyflakeError {
  const shown = code > 31 && code < 127 ? `'${String.fromCharCode(code)}'` : prefix + code.toString(16).toUpperCase().padStart(4, "0");
  return new PolyflakeError("invalid_character", `invalid character ${shown} at position ${position}`, { position, ...details });
}
