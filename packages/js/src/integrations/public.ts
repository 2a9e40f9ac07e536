import { checkSigned } from "../decode/checks.js";
import { readInteger } from "./drivers.js";
import { type ColumnForm, createForm } from "./form.js";

/** A type of public ID from `polyflake/public`, such as `ids.of("order")`. */
export interface PublicType<Text extends string> {
  /** Returns the public ID of a number. */
  encode(number: bigint): Text;
  /** Returns the number that a public ID represents. */
  decode(text: string): number | bigint;
}

/**
 * Creates a form for public IDs of one type, which are stored as their numbers in a `BIGINT` column. It rejects numbers above
 * 2^63-1, because `BIGINT` is signed.
 */
export const publicInt64 = <Text extends string>(type: PublicType<Text>): ColumnForm<Text, bigint, "int64"> =>
  createForm(
    "int64",
    (text) => checkSigned(BigInt(type.decode(text)), "id"),
    (value) => type.encode(readInteger(value)),
  );
