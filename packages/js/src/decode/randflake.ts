/**
 * Converts between the string form and the integer of a Randflake, without its secret.
 *
 * @module
 */
import { outOfRange, PolyflakeError } from "../errors.js";
import { digit, misspelt, signed, sized, type ValueAt } from "./checks.js";

/**
 * An ID: a signed 64-bit integer. The type is branded, so the compiler accepts an ID where a bigint is expected, but no other
 * bigint where an ID is expected.
 */
export type RandflakeId = bigint & { readonly " randflake": "id" };

/** The string form of an ID: 1 to 13 characters of `[0-9a-v]`. The type is branded, like {@link RandflakeId}. */
export type RandflakeText = string & { readonly " randflake": "text" };

/** The maximum length of an encoded ID. Its first character holds 4 of the 64 bits. */
const MOST = 13;
const LAST_FIRST = 15;

const valueAt: ValueAt = (text, position) => digit(text.charCodeAt(position), 0, 32);

/**
 * Returns the string form of an ID: 1 to 13 characters of `[0-9a-v]`.
 *
 * @throws {PolyflakeError} `invalid_type` unless it is a bigint; `out_of_range` outside signed 64 bits.
 */
export function encodeText(id: bigint): RandflakeText {
  return BigInt.asUintN(64, signed(id, "id")).toString(32) as RandflakeText;
}

/**
 * Returns the ID of its string form. Only the canonical encoding is accepted.
 *
 * @throws {PolyflakeError} `invalid_type`; `invalid_length`, `invalid_character` with the position; `not_canonical` for a leading
 * zero; `out_of_range` above 2^64-1.
 */
export function decodeText(text: string): RandflakeId {
  sized(text, "text", MOST, 1);
  let [high, low, all] = [0, 0, 0];
  for (let k = 0; k < text.length; k++) {
    const value = valueAt(text, k);
    all |= value;
    high = (high << 5) | (low >>> 27);
    low = (low << 5) | value;
  }
  if (all < 0) throw misspelt(text, "text", valueAt);
  const first = valueAt(text, 0);
  if (first === 0 && text.length > 1)
    throw new PolyflakeError("not_canonical", "expected no leading zero, found one", { field: "text" });
  const id = (BigInt(high) << 32n) | BigInt(low >>> 0);
  if (text.length < MOST || first <= LAST_FIRST) return id as RandflakeId;
  throw outOfRange(0n, (1n << 64n) - 1n, (BigInt(first) << 60n) | BigInt.asUintN(60, id), "id");
}
