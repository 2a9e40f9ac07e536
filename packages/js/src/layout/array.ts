import { attached, bytes, integers, isBytes, isObject, lengthOfArray, partOfBytes, within } from "../checks.js";
import { PolyflakeError } from "../errors.js";
import { BATCH, BYTES, MOST } from "../machine.js";
import { placeOf } from "../packed.js";
import { decimalOf, fewOf, hexOf, present, unhex } from "../show.js";
import { elements } from "../texts.js";
import type { Kind } from "./description.js";
import type { IdOf } from "./layout.js";

/** As many bytes as 2^24 of the largest fixed format have. */
const MOST_BYTES = 1 << 28;

/** The longest ID, in bytes. */
const LONGEST = 65_536;

/** IDs of a layout, packed: 64 bits each, or as many bytes as an ID has. */
export type PackedOf<K extends Kind> = K extends "integer" ? BigInt64Array : Uint8Array;

/** Many IDs of a layout, packed. */
export class LayoutArray<K extends Kind = Kind> implements Iterable<IdOf<K>> {
  static readonly name: string = "LayoutArray";

  /** The IDs: a BigInt64Array, or the bytes of all, one after the other. */
  readonly packed: PackedOf<K>;
  /** The JSON form, which {@link LayoutArray.fromJson} reads: integers as decimal strings, bytes in hex. */
  declare readonly toJSON: () => string[];
  /** How many elements of the array an ID has. */
  readonly #size: number;

  /**
   * IDs over an array, which is not copied.
   *
   * @param length How many bytes an ID has, in an array of bytes.
   * @throws {PolyflakeError} `invalid_type`, `out_of_range` for the length; `invalid_length` for bytes that are no whole number
   * of IDs.
   */
  constructor(packed: PackedOf<K>, ...length: K extends "integer" ? [] : [length: number]);
  constructor(packed: PackedOf<K>, length?: number) {
    this.packed = packed;
    this.#size = isBytes(packed) ? sizeOf(packed, length) : (integers(packed, "packed"), 1);
    present(this, jsonOf, fewOf);
  }

  /**
   * IDs out of the JSON form of an array: integers, or bytes if it says how many an ID has.
   *
   * @throws {PolyflakeError} `invalid_type`, with the `item` where one is no such text; `out_of_range`.
   */
  static fromJson(json: readonly string[]): LayoutArray<"integer">;
  static fromJson(json: readonly string[], length: number): LayoutArray<"bytes">;
  static fromJson(json: readonly string[], length?: number): LayoutArray {
    return idsOfJson(json, length);
  }

  /** How many IDs there are. */
  get length(): number {
    attached(isObject(this) && #size in this);
    return Math.floor(lengthOfArray(this.packed) / this.#size);
  }

  /**
   * One ID; a negative index counts from the end. Undefined outside.
   *
   * @throws {PolyflakeError} `invalid_type`.
   */
  at(index: number): IdOf<K> | undefined {
    attached(isObject(this) && #size in this);
    const place = placeOf(index, this.length);
    return place === undefined ? undefined : this.#id(place);
  }

  *[Symbol.iterator](): IterableIterator<IdOf<K>> {
    attached(isObject(this) && #size in this);
    for (let place = 0; place < this.length; place++) yield this.#id(place);
  }

  #id(place: number): IdOf<K> {
    const packed: BigInt64Array | Uint8Array = this.packed;
    const id = isBytes(packed) ? new Uint8Array(partOfBytes(packed, place * this.#size, this.#size)) : packed[place];
    return id as IdOf<K>;
  }
}

/** What of a layout says how its IDs are packed. */
interface Shape {
  bits: number;
  isInteger: boolean;
}

/**
 * Many IDs of a layout, at most 2^24 and 256 MiB, packed by a function into memory for IDs of so many bytes, of which one call makes a
 * batch at most; it gives the memory that it filled.
 */
export function manyOf<K extends Kind>(
  layout: Shape,
  count: number,
  fill: (many: Uint8Array, size: number, batch: number) => Uint8Array,
): LayoutArray<K> {
  const { room, size } = roomFor(layout, count);
  return arrayOf(layout, fill(room, size, batchOf(size)));
}

/** The same by a function that takes its time. */
export async function manyLaterOf<K extends Kind>(
  layout: Shape,
  count: number,
  fill: (many: Uint8Array, size: number, batch: number) => Promise<Uint8Array>,
): Promise<LayoutArray<K>> {
  const { room, size } = roomFor(layout, count);
  return arrayOf(layout, await fill(room, size, batchOf(size)));
}

/** Memory for so many IDs, and how many bytes each has. */
function roomFor({ bits }: Shape, count: number): { room: Uint8Array; size: number } {
  const size = bits / 8;
  const most = Math.min(MOST, Math.floor(MOST_BYTES / size));
  return { room: new Uint8Array(within(count, "count", most) * size), size };
}

/** The IDs in memory that has room for no more. */
export function arrayOf<K extends Kind>({ bits, isInteger }: Shape, many: Uint8Array): LayoutArray<K> {
  const packed = isInteger ? new BigInt64Array(many.buffer as ArrayBuffer) : many;
  return new LayoutArray<Kind>(packed, bits / 8) as unknown as LayoutArray<K>;
}

/** How many pieces of so many bytes one call takes or makes. */
export function batchOf(size: number): number {
  return Math.max(1, Math.min(BATCH, Math.floor(BYTES / size)));
}

function sizeOf(packed: Uint8Array, length: unknown): number {
  const size = within(length, "length", LONGEST);
  const found = lengthOfArray(bytes(packed, "packed"));
  if (size > 0 && found % size === 0) return size;
  throw new PolyflakeError("invalid_length", `expected a multiple of ${size} bytes, found ${found}`, { field: "packed" });
}

function jsonOf(this: LayoutArray): string[] {
  return Array.from(this as Iterable<bigint | Uint8Array>, (id) => (isBytes(id) ? hexOf(id) : String(id)));
}

function idsOfJson(json: unknown, length: unknown): LayoutArray {
  const given = elements(json, "json");
  if (length === undefined) return new LayoutArray<Kind>(BigInt64Array.from(given, integerOf));
  const size = within(length, "length", LONGEST);
  const packed = new Uint8Array(given.length * size);
  given.forEach((text, item) => packed.set(bytesOf(text, size, item), item * size));
  return new LayoutArray<Kind>(packed, size);
}

/** The integer of 64 bits whose decimal text this is. */
function integerOf(text: unknown, item: number): bigint {
  const value = typeof text === "string" && text.length <= "-9223372036854775808".length ? decimalOf(text) : undefined;
  if (value !== undefined && BigInt.asIntN(64, value) === value) return value;
  throw new PolyflakeError("invalid_type", `item ${item}: expected a decimal text of 64 bits, found another value`, { field: "json", item });
}

/** The bytes whose hex this is. */
function bytesOf(text: unknown, size: number, item: number): Uint8Array {
  const found = typeof text === "string" && text.length === 2 * size ? unhex(text) : undefined;
  if (found) return found;
  throw new PolyflakeError("invalid_type", `item ${item}: expected ${2 * size} digits of hex in lower case, found another value`, { field: "json", item });
}
