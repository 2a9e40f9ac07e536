import { invalidCharacter } from "../errors.js";
import { checkAtMost, checkInteger, checkTextLength, notVersion8Error, parseUuidBytes, uuidText } from "./checks.js";
import { type Bytes, bytesToWords, parseWords, TEXT_LENGTH, tryParseWords, valueAt, wordsToText } from "./words.js";

/** The start of tick 0, in Unix milliseconds (`EPOCH_MS`), and the length of a tick, in milliseconds (`TICK_MS`). */
export const EPOCH_MS = 1_262_304_000_000;
export const TICK_MS = 4;

/**
 * An encoded ID, which is a string of 16 characters from `[2-9a-x]`.
 *
 * The type is branded: an ID can be used as a string, but the compiler does not accept any other string as an ID. `SnoId<24>`
 * is an ID with the metabyte 24, and can be used as a `SnoId`:
 *
 * ```ts
 * type UserId = SnoId<24>;
 * const id: UserId = sno.generate(24);
 * ```
 */
export type SnoId<Metabyte extends number = number> = string & { readonly " sno": Metabyte };

/**
 * A function that generates an ID. The TypeScript type of the ID includes the metabyte that was passed or, without an argument,
 * the generator's metabyte.
 */
export interface GenerateFunction<Default extends number> {
  (): SnoId<Default>;
  <M extends number>(metabyte: M): SnoId<M>;
  (metabyte: number | undefined): SnoId;
}

/** The fields of an ID. */
export interface Parts {
  /** The number of 4 ms units since 2010-01-01T00:00:00Z, 0..549755813887 (39 bits). */
  tick: number;
  /** The tick-tock bit, which flips on each clock rollback. */
  tickTock: boolean;
  /** The metabyte, 0..255. It is a type tag whose meaning you choose. */
  metabyte: number;
  /** The partition (0..65535) of the generator that created the ID. */
  partition: number;
  /** The sequence number, 0..65535, which distinguishes IDs generated in the same tick. */
  sequence: number;
}

/** The fields of an ID, and the start of its tick. */
export interface Fields extends Parts {
  /** The start of the tick. */
  timestamp: Date;
  /** The start of the tick, in Unix milliseconds. */
  unixMs: number;
}

/**
 * Returns the fields of an encoded ID.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is a string; `invalid_length` if it has the wrong length;
 * `invalid_character` with the `position` of the first invalid character.
 */
export function parse(text: string): Fields {
  const [high, low, upper, lower] = parseWords(text, "text");
  // The tick has 39 bits, but bitwise shifts operate on only 32 bits.
  const tick = high * 0x8_0000 + (low >> 1);
  const unixMs = EPOCH_MS + tick * TICK_MS;
  return {
    timestamp: new Date(unixMs),
    unixMs,
    tick,
    tickTock: (low & 1) === 1,
    metabyte: upper >> 12,
    partition: ((upper & 0xfff) << 4) | (lower >> 16),
    sequence: lower & 0xffff,
  };
}

/** Returns `true` if the value is an encoded ID, which has 16 characters from `[2-9a-x]`. */
export function isValid(value: unknown): value is SnoId {
  return typeof value === "string" && value.length === TEXT_LENGTH && tryParseWords(value) !== undefined;
}

/**
 * Returns `true` if the value is an encoded ID with the given metabyte (0..255).
 *
 * ```ts
 * if (sno.hasMetabyte(text, 24)) loadUser(text); // a SnoId<24>
 * ```
 *
 * @throws {PolyflakeError} `invalid_type` or `out_of_range` if the metabyte is invalid.
 */
export function hasMetabyte<M extends number>(value: unknown, metabyte: M): value is SnoId<M> {
  const wanted = checkAtMost(metabyte, "metabyte", 0xff);
  return isValid(value) && metabyteOf(value) === wanted;
}

/**
 * Returns the metabyte (0..255) of an encoded ID. Only the length and the two characters that hold the metabyte are checked;
 * the rest of the string is not decoded.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is a string; `invalid_length` if it has the wrong length;
 * `invalid_character` with the `position` of the first invalid character.
 */
export function metabyte(text: string): number {
  const [high, low] = [8, 9].map((position) => {
    const value = valueAt(checkTextLength(text, "text", TEXT_LENGTH), position);
    if (value < 0) throw invalidCharacter(text, position, { field: "text" });
    return value;
  });
  return (high! << 3) | (low! >> 2);
}

const metabyteOf = metabyte;

/**
 * Returns a copy of an ID with the given metabyte (0..255), for example for a different version or type of the same object.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}; `out_of_range` if the new value is out of range.
 */
export function withMetabyte<M extends number>(text: string, metabyte: M): SnoId<M> {
  checkInteger(metabyte, "metabyte");
  const words = parseWords(text, "text");
  words[2] = (words[2] & 0xfff) | (checkAtMost(metabyte, "metabyte", 0xff) << 12);
  return wordsToText(words);
}

/**
 * Returns the 10 bytes of an ID, which sort by time.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}.
 */
export function toBytes(text: string): Uint8Array {
  const [a, b, c, d] = parseWords(text, "text");
  // The Uint8Array stores only the low 8 bits of each number.
  return new Uint8Array([
    a >> 12,
    a >> 4,
    (a << 4) | (b >> 16),
    b >> 8,
    b,
    c >> 12,
    c >> 4,
    (c << 4) | (d >> 16),
    d >> 8,
    d,
  ]);
}

/**
 * Returns the ID as a UUID string in the compatible form, for a UUID column. The 16 bytes of the UUID are the 16 ASCII
 * characters of the encoded ID.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}.
 */
export function toUuid(text: string): string {
  parseWords(text, "text");
  return uuidText(Array.from(text, (character) => character.charCodeAt(0)));
}

/**
 * Returns the ID as a version 8 UUID, which strict validators accept. The UUID contains all of the ID's bits. These UUIDs
 * sort in the same order as the IDs.
 *
 * @throws {PolyflakeError} the same errors as {@link parse}.
 */
export function toUuid8(text: string): string {
  return uuidText(bytesToUuid8(toBytes(text)));
}

/** Returns the 16 bytes of the version 8 UUID that contains the given ID bytes. */
export function bytesToUuid8(bytes: Iterable<number>): number[] {
  const [a, b, c, d, e, f, g, h, i, j] = bytes as Bytes;
  const tail = [0x80 | (g >> 4), (g << 4) | (h >> 4), 0x80 | ((h & 15) << 2) | (i >> 6), (i << 2) | (j >> 6), j << 2];
  return [a, b, c, d, e, f, ...tail, 0, 0, 0, 0, 0].map((byte) => byte & 0xff);
}

/**
 * Returns the ID that a version 8 UUID contains. Hexadecimal digits can be lowercase or uppercase.
 *
 * @throws {PolyflakeError} `invalid_type` unless the UUID is a string; `invalid_length` unless it has 36 characters;
 * `invalid_character` with the `position` of the first invalid character; `not_canonical` if it has a different version or
 * variant, or if any bit after the ID's bits is set.
 */
export function fromUuid8(uuid: string): SnoId {
  return wordsToText(bytesToWords(uuid8ToBytes(parseUuidBytes(uuid, "uuid"), "uuid")));
}

/** Returns the 10 bytes of the ID that a version 8 UUID contains, given the 16 bytes of the UUID. */
export function uuid8ToBytes(uuid: Iterable<number>, field: string): number[] {
  const [a, b, c, d, e, f, g, h, i, j, k, ...rest] = uuid as Bytes;
  if (g >> 4 !== 8 || i >> 6 !== 2 || k & 3 || rest.some(Boolean))
    throw notVersion8Error(field, "42 zero bits at its end");
  const tail = [(g << 4) | (h >> 4), (h << 4) | ((i >> 2) & 15), (i << 6) | (j >> 2), (j << 6) | (k >> 2)];
  return [a, b, c, d, e, f, ...tail].map((byte) => byte & 0xff);
}
