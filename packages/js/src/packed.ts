import { bytes as checkedBytes, integer, lengthOfArray, partOfBytes } from "./checks.js";
import { PolyflakeError } from "./errors.js";
import type { Machine } from "./machine.js";

/** How the IDs of a family lie in bytes. */
interface Packing {
  /** Bytes of an ID. */
  readonly length: number;
  /** Characters of its text. */
  readonly width: number;
  /** The most texts of one call. */
  readonly batch: number;
  /** Has a machine write the texts of so many IDs, at most a batch, one after the other from its first byte on. */
  readonly write: (ids: Uint8Array, count: number) => Machine;
}

/**
 * Fills memory with IDs of so many bytes each, by calls for a batch at most that give as many or fewer. There is one at least, which
 * checks what IDs are about also where none is wanted.
 */
export function fillBy(many: Uint8Array, size: number, batch: number, some: (count: number, made: number) => Uint8Array): void {
  let at = 0;
  do {
    const ids = some(Math.min(batch, (many.length - at) / size), at / size);
    many.set(ids, at);
    at += ids.length;
  } while (at < many.length);
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
    return place === undefined ? undefined : this.#write(place, 1).ascii(0, this.#packing.width);
  }

  /** The texts of all. */
  texts(): string[] {
    return this.#texts(0, this.length);
  }

  *[Symbol.iterator](): IterableIterator<string> {
    const { batch } = this.#packing;
    for (let from = 0; from < this.length; from += batch) {
      yield* this.#texts(from, Math.min(batch, this.length - from));
    }
  }

  /** The texts of so many IDs from one on. */
  #texts(from: number, count: number): string[] {
    const { batch, width } = this.#packing;
    const texts = new Array<string>(count);
    for (let done = 0; done < count; done += batch) {
      const here = Math.min(batch, count - done);
      this.#write(from + done, here).cut(texts, done, here, width);
    }
    return texts;
  }

  /** Has the texts of so many IDs from one on written. */
  #write(from: number, count: number): Machine {
    const { length, write } = this.#packing;
    return write(partOfBytes(this.bytes, from * length, count * length), count);
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
