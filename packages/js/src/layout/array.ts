import {
  arrayLength,
  attached,
  byteRange,
  checkAtMost,
  checkBigInt64Array,
  checkBytes,
  checkSigned,
  isBytes,
  isObject,
} from "../checks.js";
import { invalidType, PolyflakeError } from "../errors.js";
import { MAX_COUNT } from "../machine.js";
import { resolveIndex } from "../packed.js";
import { BATCH, BYTES } from "../protocol.js";
import { addDisplay, fromHex, inspectFirstIds, parseDecimal, toHex } from "../show.js";
import { elements, readItem } from "../texts.js";
import type { Kind } from "./description.js";
import type { IdOf } from "./fields.js";

/** The maximum total size of the IDs in one call, in bytes. It is the size of 2^24 IDs in the largest fixed format. */
const MAX_ARRAY_BYTES = 1 << 28;

/** The maximum length of an ID, in bytes. */
const MAX_BYTES_PER_ID = 128;

/** A layout's packed IDs: 64-bit integers, or the concatenated bytes of all IDs. */
export type PackedOf<K extends Kind> = K extends "integer" ? BigInt64Array : Uint8Array;

/** A packed array of IDs with the same layout. */
export class LayoutArray<K extends Kind = Kind> implements Iterable<IdOf<K>> {
  static readonly name: string = "LayoutArray";

  /** The IDs: a BigInt64Array, or the concatenated bytes of all IDs. */
  readonly packed: PackedOf<K>;
  /**
   * Returns the JSON representation, which {@link LayoutArray.from} reads: decimal strings for integers, or hexadecimal strings
   * for bytes.
   */
  declare readonly toJSON: () => string[];
  /** The number of array elements that make up an ID. */
  readonly #size: number;

  /**
   * Creates an array that uses the given typed array without copying it.
   *
   * @param length The number of bytes in an ID, if the IDs are bytes.
   * @throws {PolyflakeError} `invalid_type` if an argument has the wrong type; `out_of_range` if the length is out of
   * range; `invalid_length` if the number of bytes is not a multiple of the length.
   */
  constructor(packed: PackedOf<K>, ...length: K extends "integer" ? [] : [length: number]);
  constructor(packed: PackedOf<K>, length?: number) {
    this.packed = packed;
    this.#size = isBytes(packed) ? checkIdSize(packed, length) : (checkBigInt64Array(packed, "packed"), 1);
    addDisplay(this, jsonOf, inspectFirstIds);
  }

  /**
   * Creates an array of at most 16,777,216 IDs. Without a length, the IDs are bigints or decimal strings. With a length, which
   * is the number of bytes in an ID, they are byte arrays or hexadecimal strings.
   *
   * @throws {PolyflakeError} `invalid_type`, `invalid_length` or `out_of_range` if an argument or an ID is invalid, with the
   * index of the ID as `item`.
   */
  static from(ids: readonly (bigint | string)[]): LayoutArray<"integer">;
  static from(ids: readonly (Uint8Array | string)[], length: number): LayoutArray<"bytes">;
  static from(ids: readonly (bigint | Uint8Array | string)[], length?: number): LayoutArray {
    const given = elements(ids);
    if (length === undefined)
      return new LayoutArray<Kind>(BigInt64Array.from(given, (id, item) => readItem(id, item, integerOf)));
    const size = checkAtMost(length, "length", MAX_BYTES_PER_ID);
    const packed = new Uint8Array(given.length * size);
    given.forEach((id, item) =>
      packed.set(
        readItem(id, item, (id) => bytesOf(id, size)),
        item * size,
      ),
    );
    return new LayoutArray<Kind>(packed, size);
  }

  /** The number of IDs. */
  get length(): number {
    attached(isObject(this) && #size in this);
    return Math.floor(arrayLength(this.packed) / this.#size);
  }

  /**
   * Returns the ID at an index, or undefined if the index is out of range. A negative index counts from the end.
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type.
   */
  at(index: number): IdOf<K> | undefined {
    attached(isObject(this) && #size in this);
    const place = resolveIndex(index, this.length);
    return place === undefined ? undefined : this.#id(place);
  }

  /** Iterates over the IDs, which are bigints or bytes. */
  *[Symbol.iterator](): IterableIterator<IdOf<K>> {
    attached(isObject(this) && #size in this);
    for (let place = 0; place < this.length; place++) yield this.#id(place);
  }

  #id(place: number): IdOf<K> {
    const packed: BigInt64Array | Uint8Array = this.packed;
    const id = isBytes(packed) ? new Uint8Array(byteRange(packed, place * this.#size, this.#size)) : packed[place];
    return id as IdOf<K>;
  }
}

/** The layout properties that determine how IDs are packed. */
interface ArrayShape {
  bits: number;
  isInteger: boolean;
}

/**
 * Returns the maximum number of IDs of `size` bytes each that a user can request in one call: 2^24 or the number that fits
 * in 256 MiB, whichever is smaller.
 */
export const maxCount = (size: number): number => Math.min(MAX_COUNT, Math.floor(MAX_ARRAY_BYTES / size));

/** Creates an array that uses the given memory, which is completely filled with IDs. */
export function arrayOf<K extends Kind>({ bits, isInteger }: ArrayShape, many: Uint8Array): LayoutArray<K> {
  const packed = isInteger ? new BigInt64Array(many.buffer as ArrayBuffer) : many;
  return new LayoutArray<Kind>(packed, bits / 8) as unknown as LayoutArray<K>;
}

/** Returns the maximum number of items of `size` bytes each in one call to the backend. */
export function maxBatchSize(size: number): number {
  return Math.max(1, Math.min(BATCH, Math.floor(BYTES / size)));
}

function checkIdSize(packed: Uint8Array, length: unknown): number {
  const size = checkAtMost(length, "length", MAX_BYTES_PER_ID);
  const found = arrayLength(checkBytes(packed, "packed"));
  if (size > 0 && found % size === 0) return size;
  throw new PolyflakeError("invalid_length", `expected a multiple of ${size} bytes, found ${found}`, {
    field: "packed",
  });
}

function jsonOf(this: LayoutArray): string[] {
  return Array.from(this as Iterable<bigint | Uint8Array>, (id) => (isBytes(id) ? toHex(id) : String(id)));
}

/** Converts a bigint or a decimal string to an integer ID. */
function integerOf(id: unknown): bigint {
  if (typeof id === "bigint") return checkSigned(id, "ids");
  const value = typeof id === "string" && id.length <= "-9223372036854775808".length ? parseDecimal(id) : undefined;
  if (value !== undefined && BigInt.asIntN(64, value) === value) return value;
  throw invalidType("bigint or decimal text of 64 bits", id, { field: "ids" });
}

/** Converts bytes or a hexadecimal string to a byte ID. */
function bytesOf(id: unknown, size: number): Uint8Array {
  if (isBytes(id)) {
    const length = arrayLength(id);
    if (length === size) return byteRange(id, 0, size);
    throw new PolyflakeError("invalid_length", `expected ${size} bytes, found ${length}`);
  }
  const found = typeof id === "string" && id.length === 2 * size ? fromHex(id) : undefined;
  if (found) return found;
  throw invalidType(`Uint8Array or ${2 * size} digits of hex in lower case`, id, { field: "ids" });
}
