/**
 * Converts between encoded Randflakes and 64-bit integers, without the secret.
 *
 * @module
 */
import { outOfRange, PolyflakeError } from "../errors.js";
import { checkSigned, checkTextLength, digit, firstInvalidCharacterError, type ValueAt } from "./checks.js";

/**
 * An ID, which is a signed 64-bit integer. The type is branded: an ID can be used as a bigint, but the compiler does not accept
 * any other bigint as an ID.
 */
export type RandflakeId = bigint & { readonly " randflake": "id" };

/** An encoded ID, which is a string of 1 to 13 characters from `[0-9a-v]`. The type is branded, like {@link RandflakeId}. */
export type RandflakeText = string & { readonly " randflake": "text" };

/**
 * The maximum number of characters in an encoded ID. In an ID of this length, the first character holds 4 of the 64 bits,
 * and every other character holds 5.
 */
const MAX_LENGTH = 13;
const MAX_FIRST_DIGIT = 15;

const valueAt: ValueAt = (text, position) => digit(text.charCodeAt(position), 0, 32);

/**
 * Returns an ID as a string of 1 to 13 characters from `[0-9a-v]`.
 *
 * @throws {PolyflakeError} `invalid_type` unless the ID is a bigint; `out_of_range` unless it fits in a signed 64-bit integer.
 */
export function encodeText(id: bigint): RandflakeText {
  return BigInt.asUintN(64, checkSigned(id, "id")).toString(32) as RandflakeText;
}

/**
 * Decodes an encoded ID. Only the canonical encoding is accepted.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is a string; `invalid_length` unless it has 1 to 13 characters;
 * `invalid_character` with the `position` of the first invalid character; `not_canonical` if it has a leading zero;
 * `out_of_range` if its value is above 2^64-1.
 */
export function decodeText(text: string): RandflakeId {
  checkTextLength(text, "text", MAX_LENGTH, 1);
  let [high, low, all] = [0, 0, 0];
  for (let k = 0; k < text.length; k++) {
    const value = valueAt(text, k);
    all |= value;
    high = (high << 5) | (low >>> 27);
    low = (low << 5) | value;
  }
  if (all < 0) throw firstInvalidCharacterError(text, "text", valueAt);
  const first = valueAt(text, 0);
  if (first === 0 && text.length > 1)
    throw new PolyflakeError("not_canonical", "expected no leading zero, found one", { field: "text" });
  const id = (BigInt(high) << 32n) | BigInt(low >>> 0);
  if (text.length < MAX_LENGTH || first <= MAX_FIRST_DIGIT) return id as RandflakeId;
  throw outOfRange(0n, (1n << 64n) - 1n, (BigInt(first) << 60n) | BigInt.asUintN(60, id), "id");
}
