import { attached, bytes, integers, isBytes, isObject, lengthOfArray, partOfBytes, within } from "../checks.js";
import { PolyflakeError } from "../errors.js";
import { BATCH, BYTES, MOST } from "../machine.js";
import { placeOf } from "../packed.js";
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
  /** The IDs: a BigInt64Array, or the bytes of all, one after the other. */
  readonly packed: PackedOf<K>;
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

/**
 * Many IDs of a layout, at most 2^24 and 256 MiB, packed by a function into memory for IDs of so many bytes, of which one call makes a
 * batch at most; it gives the memory that it filled.
 */
export function manyOf<K extends Kind>(
  { bits, isInteger }: { bits: number; isInteger: boolean },
  count: number,
  fill: (many: Uint8Array, size: number, batch: number) => Uint8Array,
): LayoutArray<K> {
  const size = bits / 8;
  const room = new Uint8Array(within(count, "count", Math.min(MOST, Math.floor(MOST_BYTES / size))) * size);
  const many = fill(room, size, batchOf(size));
  const packed = isInteger ? new BigInt64Array(many.buffer as ArrayBuffer) : many;
  return new LayoutArray<Kind>(packed, size) as unknown as LayoutArray<K>;
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
