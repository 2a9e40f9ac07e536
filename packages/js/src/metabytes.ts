/** Metabytes that an ID must carry one of. */
import { within } from "./decode/checks.js";
import { wordsOf } from "./decode/words.js";
import { PolyflakeError } from "./errors.js";

/**
 * Metabytes from a caller, each once.
 *
 * @throws {PolyflakeError} `invalid_type`, `out_of_range` for a metabyte; `out_of_range` for none.
 */
export function metabytes(given: readonly unknown[], field: string): ReadonlySet<number> {
  if (given.length === 0) throw new PolyflakeError("out_of_range", "expected a metabyte, found none", { field });
  return new Set(given.map((metabyte) => within(metabyte, field, 255)));
}

/**
 * The metabyte of a sno's text, which must be one of `wanted`.
 *
 * @throws {PolyflakeError} as `parse`; `out_of_range` for another metabyte.
 */
export function metabyteAmong(wanted: ReadonlySet<number>, id: unknown, field: string): number {
  const found = wordsOf(id, field)[2] >> 12;
  if (wanted.has(found)) return found;
  const message = `expected an ID of metabyte ${[...wanted].join(", ")}, found ${found}`;
  throw new PolyflakeError("out_of_range", message, { field });
}
