/**
 * Reads Hot Guids.
 *
 * @module
 */
import { bytesOfUuid, notVersion8, UUID_LENGTH, uuidBytes } from "./checks.js";

/**
 * The text of an ID, in the form of a UUID. Its type has a mark that no value has, so no other text goes where an ID is expected;
 * an ID goes wherever a text does. Generators and {@link parse} give it in lower case.
 */
export type HotGuidId = string & { readonly " hotguid": "id" };

/** The fields of an ID. */
export interface Parts {
  /** Time of creation, in Unix seconds: 0..4294967295. */
  timestamp: number;
  /** Random bytes that tell its generator from all others: 5 bytes. */
  machine: Uint8Array;
  /** Counts within a second, from any start: 0..16777215. */
  counter: number;
  /** Key that the application routes by: 0..4294967295. */
  shardKey: number;
}

/** The fields of an ID that is a UUID of version 8. */
export interface Uuid8Parts {
  /** Time of creation, in Unix seconds: 0..4294967295. */
  timestamp: number;
  /** Random bits that tell its generator from all others: 34 bits, 0..17179869183. */
  machine: number;
  /** Counts within a second, from any start: 0..16777215. */
  counter: number;
  /** Key that the application routes by: 0..4294967295. */
  shardKey: number;
}

/**
 * The ID of a text in hex of either case, with hyphens. An ID is a text in lower case.
 *
 * @throws {PolyflakeError} `invalid_type`, `invalid_length`, or `invalid_character` with the position.
 */
export function parse(text: string): HotGuidId {
  uuidBytes(text, "text");
  return text.toLowerCase() as HotGuidId;
}

/** Returns `true` for the text of an ID, in either case: every GUID's text is one. */
export function isValid(value: unknown): value is HotGuidId {
  return typeof value === "string" && value.length === UUID_LENGTH && bytesOfUuid(value) !== undefined;
}

/**
 * The fields of an ID. Every GUID can be read this way, so plausible fields prove nothing.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function parts(id: string): Parts {
  const bytes = uuidBytes(id, "id");
  return {
    timestamp: word(bytes, 0, 1, 2, 3),
    machine: new Uint8Array([bytes[5]!, bytes[4]!, bytes[7]!, bytes[6]!, bytes[8]!]),
    counter: word(bytes, 8, 9, 10, 11) & 0xff_ffff,
    shardKey: word(bytes, 15, 14, 13, 12),
  };
}

/**
 * The fields of a UUID of version 8, as a generator with `uuid8` makes it.
 *
 * @throws {PolyflakeError} as {@link parse}; `not_canonical` for another version or variant.
 */
export function uuid8Parts(id: string): Uuid8Parts {
  const bytes = uuidBytes(id, "id");
  // Version and variant lie among the machine's bits.
  const [upper, lower] = [word(bytes, 4, 5, 6, 7), bytes[8]!];
  if (((upper >> 12) & 15) !== 8 || lower >> 6 !== 2) throw notVersion8("id", "RFC 9562's variant");
  return {
    timestamp: word(bytes, 0, 1, 2, 3),
    machine: (upper >>> 16) * 0x4_0000 + ((upper & 0xfff) << 6) + (lower & 63),
    counter: word(bytes, 8, 9, 10, 11) & 0xff_ffff,
    shardKey: word(bytes, 12, 13, 14, 15),
  };
}

/** The 32-bit number of the bytes at these places, highest byte first. */
function word(bytes: readonly number[], a: number, b: number, c: number, d: number): number {
  return ((bytes[a]! << 24) | (bytes[b]! << 16) | (bytes[c]! << 8) | bytes[d]!) >>> 0;
}

/**
 * The shard key of an ID of the compatible form, by which the application routes: 0..4294967295. {@link uuid8Parts} reads that of
 * a UUID of version 8.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function shardKey(id: string): number {
  return word(uuidBytes(id, "id"), 15, 14, 13, 12);
}

/**
 * The time at which an ID was made, in Unix seconds.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function timestamp(id: string): number {
  return word(uuidBytes(id, "id"), 0, 1, 2, 3);
}

/**
 * The 16 bytes in the order of the text, as in RFC 9562: they sort by time.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function toBytes(id: string): Uint8Array {
  return Uint8Array.from(uuidBytes(id, "id"));
}
