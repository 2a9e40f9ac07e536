import { bytes, lengthOfArray, partOfBytes } from "./checks.js";
import type { Machine } from "./machine.js";

const LENGTH = 16;

/**
 * Writes a key or secret for a call that takes it out of the scratch area again, and gives its length; one of the wrong
 * length is refused by that alone.
 *
 * @throws {PolyflakeError} `invalid_type`.
 */
export function putSecret(m: Machine, secret: unknown, field: string): number {
  const length = lengthOfArray(bytes(secret, field));
  if (length === LENGTH) m.bytes.set(partOfBytes(secret as Uint8Array, 0, LENGTH));
  return length;
}
