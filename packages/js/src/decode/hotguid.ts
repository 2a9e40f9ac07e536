/**
 * Reads Hot Guids.
 *
 * @module
 */
import { notVersion8Error, parseUuidBytes, tryParseUuid, UUID_LENGTH } from "./checks.js";

/**
 * An ID, as a UUID string. {@link parse} and generators return it in lower case.
 *
 * The type is branded: an ID can be used as a string, but the compiler does not accept any other string as an ID.
 */
export type HotGuidId = string & { readonly " hotguid": "id" };

/** The fields of an ID. */
export interface Parts {
  /** The creation time, in Unix seconds, 0..4294967295. */
  timestamp: number;
  /** The 5 random bytes that identify the generator. */
  machine: Uint8Array;
  /** The counter, 0..16777215, which distinguishes IDs generated in the same second. It can start at any value. */
  counter: number;
  /** The shard key, 0..4294967295, which the application uses to route requests to a shard. */
  shardKey: number;
}

/** The fields of an ID that is a version 8 UUID. */
export interface Uuid8Parts {
  /** The creation time, in Unix seconds, 0..4294967295. */
  timestamp: number;
  /** The 34 random bits that identify the generator, 0..17179869183. */
  machine: number;
  /** The counter, 0..16777215, which distinguishes IDs generated in the same second. It can start at any value. */
  counter: number;
  /** The shard key, 0..4294967295, which the application uses to route requests to a shard. */
  shardKey: number;
}

/**
 * Parses an encoded ID, which consists of hexadecimal digits in upper or lower case, with hyphens. The result is in lower case.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is a string; `invalid_length` if it has the wrong length;
 * `invalid_character` with the `position` of the first invalid character.
 */
export function parse(text: string): HotGuidId {
  parseUuidBytes(text, "text");
  return text.toLowerCase() as HotGuidId;
}

/**
 * Returns `true` if the value is an encoded ID, in upper or lower case. Every GUID string with hyphens is a valid ID.
 */
export function isValid(value: unknown): value is HotGuidId {
  return typeof value === "string" && value.length === UUID_LENGTH && tryParseUuid(value) !== undefined;
}

/**
 * Returns the fields of an ID. Every GUID can be parsed this way, so plausible fields do not prove that a GUID is a Hot
 * Guid.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}.
 */
export function parts(id: string): Parts {
  const bytes = parseUuidBytes(id, "id");
  return {
    timestamp: bigEndianWord(bytes, 0, 1, 2, 3),
    machine: new Uint8Array([bytes[5]!, bytes[4]!, bytes[7]!, bytes[6]!, bytes[8]!]),
    counter: bigEndianWord(bytes, 8, 9, 10, 11) & 0xff_ffff,
    shardKey: bigEndianWord(bytes, 15, 14, 13, 12),
  };
}

/**
 * Returns the fields of a version 8 UUID that was generated with the `uuid8` option.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}; `not_canonical` if the UUID has a different version or variant.
 */
export function uuid8Parts(id: string): Uuid8Parts {
  const bytes = parseUuidBytes(id, "id");
  // The version and the variant are stored among the machine bits.
  const [upper, lower] = [bigEndianWord(bytes, 4, 5, 6, 7), bytes[8]!];
  if (((upper >> 12) & 15) !== 8 || lower >> 6 !== 2) throw notVersion8Error("id", "RFC 9562's variant");
  return {
    timestamp: bigEndianWord(bytes, 0, 1, 2, 3),
    machine: (upper >>> 16) * 0x4_0000 + ((upper & 0xfff) << 6) + (lower & 63),
    counter: bigEndianWord(bytes, 8, 9, 10, 11) & 0xff_ffff,
    shardKey: bigEndianWord(bytes, 12, 13, 14, 15),
  };
}

/** Returns the 32-bit number in the bytes at the given positions, most significant byte first. */
function bigEndianWord(bytes: readonly number[], a: number, b: number, c: number, d: number): number {
  return ((bytes[a]! << 24) | (bytes[b]! << 16) | (bytes[c]! << 8) | bytes[d]!) >>> 0;
}

/**
 * Returns the shard key (0..4294967295) of an ID in the compatible form. The application uses the shard key to route requests
 * to a shard. For a version 8 UUID, use {@link uuid8Parts}.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}.
 */
export function shardKey(id: string): number {
  return bigEndianWord(parseUuidBytes(id, "id"), 15, 14, 13, 12);
}

/**
 * Returns the creation time of an ID, in Unix seconds.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}.
 */
export function timestamp(id: string): number {
  return bigEndianWord(parseUuidBytes(id, "id"), 0, 1, 2, 3);
}

/**
 * Returns the ID's 16 bytes in the order of the string form, as in RFC 9562. The bytes sort by time.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}.
 */
export function toBytes(id: string): Uint8Array {
  return Uint8Array.from(parseUuidBytes(id, "id"));
}
