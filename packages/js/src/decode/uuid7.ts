/**
 * Reads version 7 UUIDs.
 *
 * @module
 */
import { isVersion7, notVersion7Error, parseUuidBytes, tryParseUuid, UUID_LENGTH } from "./checks.js";

/**
 * An ID, as a UUID string. {@link parse} and generators return it in lower case.
 *
 * The type is branded: an ID can be used as a string, but the compiler does not accept any other string as an ID.
 */
export type Uuid7Id = string & { readonly " uuid7": "id" };

/** The fields of an ID. */
export interface Parts {
  /** The creation time, in Unix milliseconds, 0..281474976710655. */
  unixMs: number;
  /** The 18-bit sequence, 0..262143. In UUIDs from other libraries, these bits may have another meaning. */
  sequence: number;
  /**
   * The 56 bits after the sequence. If the generator has a worker ID, the highest 16 of these bits contain it, and {@link
   * workerId} returns it.
   */
  random: bigint;
}

/**
 * Parses a UUID of version 7, which consists of hexadecimal digits in upper or lower case, with hyphens. The result is in lower
 * case.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is a string; `invalid_length` if it has the wrong length;
 * `invalid_character` with the `position` of the first invalid character; `not_canonical` if the UUID has a different version
 * or variant.
 */
export function parse(text: string): Uuid7Id {
  bytesOf(text, "text");
  return text.toLowerCase() as Uuid7Id;
}

/** Returns `true` if the value is a UUID of version 7, in upper or lower case, from this or any other library. */
export function isValid(value: unknown): value is Uuid7Id {
  if (typeof value !== "string" || value.length !== UUID_LENGTH) return false;
  const bytes = tryParseUuid(value);
  return bytes !== undefined && isVersion7(bytes);
}

/**
 * Returns the fields of an ID.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}.
 */
export function parts(id: string): Parts {
  const bytes = bytesOf(id, "id");
  return {
    unixMs: integerOf(bytes.slice(0, 6)),
    sequence: ((bytes[6]! & 15) << 14) | (bytes[7]! << 6) | (bytes[8]! & 63),
    random: (BigInt(integerOf(bytes.slice(9, 12))) << 32n) | BigInt(integerOf(bytes.slice(12))),
  };
}

/**
 * Returns the creation time of an ID, in Unix milliseconds.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}.
 */
export function unixMs(id: string): number {
  return integerOf(bytesOf(id, "id").slice(0, 6));
}

/**
 * Returns the worker ID (0..65535) in an ID from a generator that has a worker ID. In all other IDs, the same 16 bits are
 * random. An ID does not reveal whether it contains a worker ID.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}.
 */
export function workerId(id: string): number {
  return integerOf(bytesOf(id, "id").slice(9, 11));
}

/**
 * Returns the ID's 16 bytes in the order of the string form, as in RFC 9562. The bytes sort by time.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}.
 */
export function toBytes(id: string): Uint8Array {
  return Uint8Array.from(bytesOf(id, "id"));
}

function bytesOf(text: unknown, field: string): number[] {
  const bytes = parseUuidBytes(text, field);
  if (isVersion7(bytes)) return bytes;
  throw notVersion7Error(field);
}

/** Returns the integer that is encoded in at most 6 bytes, with the most significant byte first. */
function integerOf(bytes: readonly number[]): number {
  return bytes.reduce((integer, byte) => integer * 256 + byte, 0);
}
