import { signed, string, unsigned } from "../checks.js";
import type { Machine } from "../machine.js";
import { machine } from "./machine.js";

/** Bytes of a text's slot, which has zeros after it. */
export const SLOT = 16;
/** Characters of the longest text. */
export const TEXT_LENGTH = 13;

/** What an ID holds. */
export interface Parts {
  /** When it was made, in Unix seconds: 1730000000..2803741823. */
  timestamp: number;
  /** Which node made it: 0..131071. */
  node: number;
  /** Which one of its node's second it was: 0..131071. */
  sequence: number;
}

/**
 * The text of an ID: 1 to 13 characters of `[0-9a-v]`.
 *
 * @throws {PolyflakeError} `invalid_type` for other than a bigint; `out_of_range` outside signed 64 bits.
 */
export function encodeText(id: bigint): string {
  const value = signed(id, "id");
  const m = machine();
  m.bigints[0] = value;
  m.check(m.calls.randflakeEncode());
  return m.ascii(0, m.numbers[0]!);
}

/** How long the text in a slot is. */
export function lengthInSlot({ bytes }: Machine, index: number): number {
  let length = TEXT_LENGTH;
  while (bytes[index * SLOT + length - 1] === 0) length--;
  return length;
}

/**
 * The ID of a text, which has one spelling.
 *
 * @throws {PolyflakeError} `invalid_type`; `invalid_length`, `invalid_character` with the position; `not_canonical` for a
 * leading zero; `out_of_range` above 2^64-1.
 */
export function decodeText(text: string): bigint {
  const m = machine();
  m.putText(string(text, "text"));
  m.checkText(m.calls.randflakeDecode(), "text");
  return m.bigints[0]!;
}

/**
 * The same 64 bits, read without a sign.
 *
 * @throws {PolyflakeError} `invalid_type`; `out_of_range` outside signed 64 bits.
 */
export function toUnsigned(id: bigint): bigint {
  return BigInt.asUintN(64, signed(id, "id"));
}

/**
 * The ID whose 64 bits, read without a sign, are this number.
 *
 * @throws {PolyflakeError} `invalid_type`; `out_of_range` outside 0..2^64-1.
 */
export function fromUnsigned(value: bigint): bigint {
  return BigInt.asIntN(64, unsigned(value, "value"));
}
