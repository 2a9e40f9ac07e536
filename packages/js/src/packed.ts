import { bytes as checkedBytes, integer, lengthOfArray, partOfBytes } from "./checks.js";
import { PolyflakeError } from "./errors.js";

/** How the IDs of a family lie in bytes. */
interface Packing {
  /** Bytes of an ID. */
  readonly length: number;
  /** The most texts of one call. */
  readonly batch: number;
  /** The texts of so many IDs, at most a batch. */
  readonly texts: (ids: Uint8Array, count: number) => string[];
}

/** Many IDs, packed, whose texts are what one sees. */
export class PackedTexts implements Iterable<string> {
  /** The packed bytes, in the order of the IDs. */
  readonly bytes: Uint8Array;
  readonly #packing: Packing;

  constructor(bytes: Uint8Array, packing: Packing) {
    const length = lengthOfArray(checkedBytes(bytes, "bytes"));
    if (length % packing.length !== 0) {
      throw new PolyflakeError("invalid_length", `expected a multiple of ${packing.length} bytes, found ${length}`);
    }
    this.bytes = bytes;
    this.#packing = packing;
  }

  /** How many IDs there are. */
  get length(): number {
    return Math.floor(lengthOfArray(this.bytes) / this.#packing.length);
  }

  /**
   * The text of one ID; a negative index counts from the end. Undefined outside.
   *
   * @throws {PolyflakeError} `invalid_type`.
   */
  at(index: number): string | undefined {
    const place = placeOf(index, this.length);
    return place === undefined ? undefined : this.#some(place, 1)[0];
  }

  /** The texts of all. */
  texts(): string[] {
    return [...this];
  }

  *[Symbol.iterator](): IterableIterator<string> {
    const { batch } = this.#packing;
    for (let from = 0; from < this.length; from += batch) yield* this.#some(from, batch);
  }

  /** The texts of up to `count` IDs from one on. */
  #some(from: number, count: number): string[] {
    const { length, texts } = this.#packing;
    const here = Math.min(count, this.length - from);
    return texts(partOfBytes(this.bytes, from * length, here * length), here);
  }
}

/**
 * Where an index leads to, which counts from the end if it is negative; undefined for outside.
 *
 * @throws {PolyflakeError} `invalid_type`.
 */
export function placeOf(index: number, length: number): number | undefined {
  const place = integer(index, "index") < 0 ? index + length : index;
  return place >= 0 && place < length ? place : undefined;
}
