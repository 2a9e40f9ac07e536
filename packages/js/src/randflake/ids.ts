import { signed, unsigned } from "../checks.js";
import type { Machine } from "../machine.js";

export { decodeText, encodeText } from "../decode/randflake.js";

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

/** How long the text in a slot is. */
export function lengthInSlot({ bytes }: Machine, index: number): number {
  let length = TEXT_LENGTH;
  while (bytes[index * SLOT + length - 1] === 0) length--;
  return length;
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
