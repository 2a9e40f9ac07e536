import { arrayLength, byteRange, checkBytes } from "../checks.js";
import { invalidByte, invalidLength } from "../errors.js";
import { digit, parseUuidBytes } from "./checks.js";
import type { SnoId } from "./sno.js";
import { bytesToWords, LENGTH, wordsToText } from "./words.js";

/**
 * Returns the ID that consists of the given 10 bytes. Any 10 bytes are a valid ID.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is a Uint8Array; `invalid_length` unless it has 10 bytes.
 */
export function fromBytes(id: Uint8Array): SnoId {
  const length = arrayLength(checkBytes(id, "id"));
  if (length !== LENGTH) throw invalidLength(LENGTH, length, { field: "id" });
  return wordsToText(bytesToWords(byteRange(id, 0, LENGTH)));
}

/**
 * Returns the ID for a UUID in the compatible form. Hexadecimal digits can be lowercase or uppercase.
 *
 * @throws {PolyflakeError} `invalid_type` unless the UUID is a string; `invalid_length` unless it has 36 characters;
 * `invalid_character` if the UUID does not have this form. The error's `position` is the index of the first character that
 * is invalid in a UUID. If every character is valid in a UUID, `position` is instead the index of the first of the 16 bytes
 * that cannot occur in an ID.
 */
export function fromUuid(uuid: string): SnoId {
  const value = parseUuidBytes(uuid, "uuid");
  const position = value.findIndex((byte) => digit(byte, 2, 32) < 0);
  if (position >= 0) throw invalidByte(value[position]!, position, { field: "uuid" });
  return String.fromCharCode(...value) as SnoId;
}
