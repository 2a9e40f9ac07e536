import { signed } from "../decode/checks.js";
import { integerIn } from "./drivers.js";
import { type ColumnForm, formOf } from "./form.js";

/** A type of `polyflake/public`, such as `ids.of("order")`. */
export interface PublicType<Text extends string> {
  /** The text of a number. */
  encode(number: bigint): Text;
  /** The number of a text. */
  decode(text: string): number | bigint;
}

/** Public IDs of a type, stored as their numbers: for `BIGINT`, so numbers from 2^63 on are refused. */
export const publicInt64 = <Text extends string>(type: PublicType<Text>): ColumnForm<Text, bigint, "int64"> =>
  formOf(
    "int64",
    (text) => signed(BigInt(type.decode(text)), "id"),
    (value) => type.encode(integerIn(value)),
  );
