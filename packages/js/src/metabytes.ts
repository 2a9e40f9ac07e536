/** Validates lists of metabytes, and checks whether an ID's metabyte is in a list. */
import { checkAtMost } from "./decode/checks.js";
import { parseWords } from "./decode/words.js";
import { PolyflakeError } from "./errors.js";

/**
 * Checks the caller's metabytes, and returns them without duplicates.
 *
 * @throws {PolyflakeError} `invalid_type` if a metabyte is not a number; `out_of_range` if a metabyte is out of range or the
 * list is empty.
 */
export function checkMetabytes(given: readonly unknown[], field: string): ReadonlySet<number> {
  if (given.length === 0) throw new PolyflakeError("out_of_range", "expected a metabyte, found none", { field });
  return new Set(given.map((metabyte) => checkAtMost(metabyte, field, 255)));
}

/**
 * Returns the metabyte of an encoded sno ID, which must be one of `wanted`.
 *
 * @throws {PolyflakeError} the same errors as `parse`; `out_of_range` if the ID has a different metabyte.
 */
export function checkMetabyte(wanted: ReadonlySet<number>, id: unknown, field: string): number {
  const found = parseWords(id, field)[2] >> 12;
  if (wanted.has(found)) return found;
  const message = `expected an ID of metabyte ${[...wanted].join(", ")}, found ${found}`;
  throw new PolyflakeError("out_of_range", message, { field });
}
