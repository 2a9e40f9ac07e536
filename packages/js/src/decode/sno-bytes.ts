import { bytes, lengthOfArray, partOfBytes } from "../checks.js";
import { invalidByte, invalidLength } from "../errors.js";
import { digit, uuidBytes } from "./checks.js";
import type { SnoId } from "./sno.js";
import { LENGTH, textOf, wordsOfBytes } from "./words.js";

/**
 * Returns the ID of 10 bytes. Every sequence of 10 bytes is an ID.
 *
 * @throws {PolyflakeError} `invalid_type`, `invalid_length`.
 */
export function fromBytes(id: Uint8Array): SnoId {
  const length = lengthOfArray(bytes(id, "id"));
  if (length !== LENGTH) throw invalidLength(LENGTH, length, { field: "id" });
  return textOf(wordsOfBytes(partOfBytes(id, 0, LENGTH)));
}

/**
 * Returns the ID that a UUID column stores in the compatible form. The argument is the string form of the UUID, in either case.
 *
 * @throws {PolyflakeError} `invalid_type`, `invalid_length`; `invalid_character` with the position in the string form of the UUID,
 * or the index of a byte that cannot occur in an ID.
 */
export function fromUuid(uuid: string): SnoId {
  const value = uuidBytes(uuid, "uuid");
  const position = value.findIndex((byte) => digit(byte, 2, 32) < 0);
  if (position >= 0) throw invalidByte(value[position]!, position, { field: "uuid" });
  return String.fromCharCode(...value) as SnoId;
}
