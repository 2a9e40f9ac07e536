import { isObject } from "../checks.js";
import { checkInteger } from "../decode/checks.js";
import { invalidType, PolyflakeError } from "../errors.js";
import { readInteger } from "./drivers.js";
import { type ColumnForm, createForm } from "./form.js";

/** A type of public ID from `polyflake/public`, such as `ids.of("order")`. */
export interface PublicType<Text extends string> {
  /** The width of the numbers in bits. */
  readonly bits: number;
  /** Returns the public ID of a number. */
  encode(number: bigint): Text;
  /** Returns the number that a public ID represents. */
  decode(text: string): number | bigint;
}

/** The width of the integers that are not negative in a column of signed 64-bit integers. */
const COLUMN_BITS = 63;

/**
 * Creates a form for public IDs of one type, which are stored as their numbers in a `BIGINT` column.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is a type of public IDs; `out_of_range` if the type has 64 bits.
 * `BIGINT` is signed, so half of the strings that such a type accepts would have numbers that the column cannot store.
 */
export function publicInt64<Text extends string>(type: PublicType<Text>): ColumnForm<Text, bigint, "int64"> {
  if (!isObject(type)) throw invalidType("type of public IDs", type, { field: "type" });
  const bits = checkInteger(type.bits, "bits");
  if (bits > COLUMN_BITS) {
    const message = `expected bits from 1 to ${COLUMN_BITS} for a column of signed 64-bit integers, found ${bits}`;
    throw new PolyflakeError("out_of_range", message, { field: "bits" });
  }
  return createForm(
    "int64",
    (text) => BigInt(type.decode(text)),
    (value) => type.encode(readInteger(value)),
  );
}
