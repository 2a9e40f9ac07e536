import { attached, bytes as checkedBytes, integer, isObject, lengthOfArray, partOfBytes } from "./checks.js";
import { PolyflakeError } from "./errors.js";
import type { CallName, Machine } from "./machine.js";
import { fewOf, present, textsOf } from "./show.js";
import { listedOrJoined, refuseOne } from "./texts.js";

/** How the IDs of a family lie in bytes. */
interface Packing {
  readonly machine: () => Machine;
  /** Bytes of an ID. */
  readonly length: number;
  /** Characters of its text. */
  readonly width: number;
  /** The most texts of one call. */
  readonly batch: number;
  /** The call for packed IDs, as many as the first slot says, that writes their texts in their place. */
  readonly write: CallName;
  /** The call for the same undone. */
  readonly read: CallName;
  /** Reads one text. */
  readonly readOne: (text: string) => unknown;
}

/** Makes IDs, at most `count`, where so many were `made` before, and gives their bytes. */
type Some = (count: number, made: number) => Uint8Array;

/**
 * Fills memory with IDs of so many bytes each, by calls for a batch at most that give as many or fewer. There is one at least, which
 * checks what IDs are about also where none is wanted.
 */
export function fillBy(many: Uint8Array, size: number, batch: number, some: Some): Uint8Array {
  let at = 0;
  do {
    const ids = some(Math.min(batch, (many.length - at) / size), at / size);
    many.set(ids, at);
    at += ids.length;
  } while (at < many.length);
  return many;
}

/** The same until a call gives none: as much of the memory as is filled then, in a buffer of its own. */
export function fillNow(many: Uint8Array, size: number, batch: number, some: Some): Uint8Array {
  let at = 0;
  for (let left = true; left; ) {
    const ids = some(Math.min(batch, (many.length - at) / size), at / size);
    many.set(ids, at);
    at += ids.length;
    left = ids.length > 0 && at < many.length;
  }
  return at < many.length ? many.slice(0, at) : many;
}

/** Many IDs, packed, whose texts are what one sees. */
export class PackedTexts implements Iterable<string> {
  static readonly name: string = "PackedTexts";
  /** The packed bytes, in the order of the IDs. */
  readonly bytes: Uint8Array;
  /** The JSON form: the texts, which `fromTexts` reads. */
  declare readonly toJSON: () => string[];
  readonly #packing: Packing;

  constructor(bytes: Uint8Array, packing: Packing) {
    const length = lengthOfArray(checkedBytes(bytes, "bytes"));
    if (length % packing.length !== 0) {
      throw new PolyflakeError("invalid_length", `expected a multiple of ${packing.length} bytes, found ${length}`, { field: "bytes" });
    }
    this.bytes = bytes;
    this.#packing = packing;
    present(this, textsOf, fewOf);
  }

  /** How many IDs there are. */
  get length(): number {
    attached(isObject(this) && #packing in this);
    return Math.floor(lengthOfArray(this.bytes) / this.#packing.length);
  }

  /**
   * The text of one ID; a negative index counts from the end. Undefined outside.
   *
   * @throws {PolyflakeError} `invalid_type`.
   */
  at(index: number): string | undefined {
    attached(isObject(this) && #packing in this);
    const place = placeOf(index, this.length);
    return place === undefined ? undefined : this.#write(place, 1).ascii(0, this.#packing.width);
  }

  /** The texts of all. */
  texts(): string[] {
    attached(isObject(this) && #packing in this);
    return this.#texts(0, this.length);
  }

  *[Symbol.iterator](): IterableIterator<string> {
    attached(isObject(this) && #packing in this);
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
    const { machine, length, write } = this.#packing;
    const m = machine();
    m.bytes.set(partOfBytes(this.bytes, from * length, count * length));
    m.numbers[0] = count;
    m.check(m.calls[write]());
    return m;
  }
}

/**
 * The packed IDs of texts: of an array of them, or of one text in which they lie side by side.
 *
 * @throws {PolyflakeError} `invalid_type`, `out_of_range`, `invalid_length`; what a text is refused with, and its `item`.
 */
export function packed(given: unknown, { machine, length, width, batch, read, readOne }: Packing): Uint8Array {
  const texts = listedOrJoined(given, width);
  const many = new Uint8Array(texts.count * length);
  for (let from = 0; from < texts.count; from += batch) {
    const to = Math.min(from + batch, texts.count);
    const m = machine();
    m.numbers[0] = to - from;
    if (!m.putAscii(texts.joined(from, to)) || m.calls[read]() !== 0) refuseOne(texts, from, to, readOne);
    m.look();
    many.set(m.bytes.subarray(0, (to - from) * length), from * length);
  }
  return many;
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
