/** Checks values from the caller, for functions that read IDs without a backend. Values are never converted. */
import { invalidCharacter, invalidLength, invalidType, outOfRange, PolyflakeError } from "../errors.js";

/** Checks that a value is an integer, and returns it. The caller checks the range. */
export function checkInteger(value: unknown, field: string): number {
  if (typeof value === "number" && Number.isInteger(value)) return value;
  throw invalidType("integer", value, { field });
}

/** Checks that a value is an integer from 0 to `most`, and returns it. */
export function checkAtMost(value: unknown, field: string, most: number): number {
  const number = checkInteger(value, field);
  if (number >= 0 && number <= most) return number;
  throw outOfRange(0, most, number, field);
}

/**
 * Checks that a value is a signed 64-bit integer, and returns it. It must be a bigint, because a number of that size may have
 * been rounded.
 */
export function checkSigned(value: unknown, field: string): bigint {
  if (typeof value !== "bigint") throw invalidType("bigint", value, { field });
  if (BigInt.asIntN(64, value) === value) return value;
  throw outOfRange(-1n << 63n, (1n << 63n) - 1n, toDisplayValue(value), field);
}

/**
 * Returns a bigint as error messages show it. A bigint of more than 256 bits is replaced with a description, because it
 * could have a million digits.
 */
export function toDisplayValue(value: bigint): bigint | string {
  return BigInt.asIntN(256, value) === value ? value : "one of more than 256 bits";
}

/** Checks that a value is a string of `least` to `most` characters, and returns it. */
export function checkTextLength(text: unknown, field: string, most: number, least = most): string {
  if (typeof text !== "string") throw invalidType("string", text, { field });
  if (text.length >= least && text.length <= most) return text;
  throw invalidLength(least < most ? `${least} to ${most}` : most, text.length, { field });
}

/**
 * A function that returns the value of the character at a position, or a negative number if the format does not allow the
 * character there.
 */
export type ValueAt = (text: string, position: number) => number;

/** Creates the error for the first character that the format does not allow. */
export function firstInvalidCharacterError(text: string, field: string, valueAt: ValueAt): PolyflakeError {
  let position = 0;
  while (valueAt(text, position) >= 0) position++;
  return invalidCharacter(text, position, { field });
}

/**
 * Returns the value of a character as a digit. The alphabet has `count` characters: the digits, starting at `zero`, and
 * then the lower-case letters. For any other character, the result is negative, so the bitwise OR of several results is
 * negative if any of the characters is invalid.
 */
export function digit(code: number, zero: number, count: number): number {
  const value = (code < 58 ? code - 48 : code > 96 ? code - 87 : -1) - zero;
  return value < count ? value : -1;
}

/** The number of characters in a UUID string: 8-4-4-4-12 hexadecimal digits. */
export const UUID_LENGTH = 36;

/** For each byte, the position of its first hexadecimal digit in a UUID string. */
const BYTE_POSITIONS = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** Returns the value of a hexadecimal digit in upper or lower case. */
function nibble(text: string, position: number): number {
  const code = text.charCodeAt(position);
  return digit(code > 64 && code < 71 ? code + 32 : code, 0, 16);
}

const hyphenValue: ValueAt = (text, position) => (text.charCodeAt(position) === 45 ? 0 : -1);

const uuidCharacterValue: ValueAt = (text, position) => {
  const inByte = BYTE_POSITIONS.includes(position) || BYTE_POSITIONS.includes(position - 1);
  return inByte ? nibble(text, position) : hyphenValue(text, position);
};

/** Returns the 16 bytes of a 36-character UUID string, or undefined for any other string. */
export function tryParseUuid(text: string): number[] | undefined {
  let all = hyphenValue(text, 8) | hyphenValue(text, 13) | hyphenValue(text, 18) | hyphenValue(text, 23);
  const bytes = BYTE_POSITIONS.map((at) => {
    const byte = (nibble(text, at) << 4) | nibble(text, at + 1);
    all |= byte;
    return byte;
  });
  return all < 0 ? undefined : bytes;
}

/**
 * Returns the 16 bytes of a UUID string, whose digits can be in upper or lower case.
 *
 * This function does not use a regular expression. If V8 compiles a regular expression when the stack is nearly full, it
 * terminates the process instead of throwing.
 */
export function parseUuidBytes(text: unknown, field: string): number[] {
  const found = checkTextLength(text, field, UUID_LENGTH);
  const bytes = tryParseUuid(found);
  if (bytes) return bytes;
  throw firstInvalidCharacterError(found, field, uuidCharacterValue);
}

/**
 * Creates the error for a UUID that is not a version 8 UUID, or that does not meet an additional requirement, which `and`
 * describes.
 */
export function notVersion8Error(field: string, and: string): PolyflakeError {
  return new PolyflakeError("not_canonical", `expected a UUID of version 8 with ${and}, found another`, { field });
}

/** Returns whether 16 bytes have version 7 and the variant of RFC 9562. */
export function isVersion7(bytes: readonly number[]): boolean {
  return bytes[6]! >> 4 === 7 && bytes[8]! >> 6 === 2;
}

/** Creates the error for a UUID that does not have version 7 and the variant of RFC 9562. */
export function notVersion7Error(field: string): PolyflakeError {
  const message = "expected a UUID of version 7 and RFC 9562's variant, found another";
  return new PolyflakeError("not_canonical", message, { field });
}

/** Returns the UUID that consists of the given 16 bytes, as a lower-case string. */
export function uuidText(bytes: readonly number[]): string {
  return bytes.map((byte, k) => ([4, 6, 8, 10].includes(k) ? "-" : "") + (byte + 256).toString(16).slice(1)).join("");
}
