/**
 * Arrays of IDs as packed bytes, and the loops that fill them.
 *
 * A packed array is one allocation with 10 or 16 bytes per ID, and can be sent to another thread or stored as is. Its
 * strings are created on demand, many at a time, because a call for each string would cost more than the conversion itself.
 * The backend has one scratch area, so each loop passes at most one batch to a call, and copies the result before the next
 * call.
 */
import { arrayLength, attached, byteRange, checkBytes, checkInteger, isObject } from "./checks.js";
import { PolyflakeError } from "./errors.js";
import type { Machine } from "./machine.js";
import { type CallName, register } from "./protocol.js";
import { addDisplay, inspectFirstIds, textsToJson } from "./show.js";
import { readTexts, throwFirstError } from "./texts.js";

/** Describes how the IDs of a format are packed in bytes. */
interface PackedFormat {
  readonly machine: () => Machine;
  /** The number of bytes in an ID. */
  readonly length: number;
  /** The number of characters in an encoded ID. */
  readonly width: number;
  /** The maximum number of encoded IDs in one call. */
  readonly batch: number;
  /** The backend call that replaces packed IDs with encoded IDs. */
  readonly write: CallName;
  /** The backend call that replaces encoded IDs with packed IDs. */
  readonly read: CallName;
  /** Parses one encoded ID. */
  readonly readOne: (text: string) => unknown;
}

/** Generates at most `count` IDs and returns their bytes. `made` is the number of IDs that earlier calls generated. */
type WriteIds = (count: number, made: number) => Uint8Array;

/**
 * Fills `many` with IDs of `size` bytes each, in batches of at most `batch` IDs. A call can generate fewer IDs than requested.
 * At least one batch is requested, so that the arguments are checked even if the count is 0.
 */
export function fillUp(many: Uint8Array, size: number, batch: number, some: WriteIds): Uint8Array {
  let at = 0;
  do {
    const ids = some(Math.min(batch, (many.length - at) / size), at / size);
    many.set(ids, at);
    at += ids.length;
  } while (at < many.length);
  return many;
}

/**
 * Fills `many` like {@link fillUp}, but stops when a call generates no ID, and then returns a copy of the part that was filled.
 */
export function fillAvailable(many: Uint8Array, size: number, batch: number, some: WriteIds): Uint8Array {
  let at = 0;
  for (let left = true; left; ) {
    const ids = some(Math.min(batch, (many.length - at) / size), at / size);
    many.set(ids, at);
    at += ids.length;
    left = ids.length > 0 && at < many.length;
  }
  return at < many.length ? many.slice(0, at) : many;
}

/** A packed array of IDs, whose items are strings. */
export class PackedTexts<Id extends string = string> implements Iterable<Id> {
  static readonly name: string = "PackedTexts";
  /** The packed bytes of all IDs, in order. */
  readonly bytes: Uint8Array;
  /** Returns the JSON representation, an array of encoded IDs, which `from` reads. */
  declare readonly toJSON: () => Id[];
  readonly #packing: PackedFormat;

  constructor(bytes: Uint8Array, packing: PackedFormat) {
    const length = arrayLength(checkBytes(bytes, "bytes"));
    if (length % packing.length !== 0) {
      throw new PolyflakeError("invalid_length", `expected a multiple of ${packing.length} bytes, found ${length}`, {
        field: "bytes",
      });
    }
    this.bytes = bytes;
    this.#packing = packing;
    addDisplay(this, textsToJson, inspectFirstIds);
  }

  /** The number of IDs. */
  get length(): number {
    attached(isObject(this) && #packing in this);
    return Math.floor(arrayLength(this.bytes) / this.#packing.length);
  }

  /**
   * Returns the ID at an index as a string, or undefined if the index is out of range. A negative index counts from the end.
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type.
   */
  at(index: number): Id | undefined {
    attached(isObject(this) && #packing in this);
    const place = resolveIndex(index, this.length);
    return place === undefined ? undefined : (this.#write(place, 1).ascii(0, this.#packing.width) as Id);
  }

  /** Returns all IDs as strings. */
  texts(): Id[] {
    attached(isObject(this) && #packing in this);
    return this.#texts(0, this.length);
  }

  /** Iterates over the IDs as strings. */
  *[Symbol.iterator](): IterableIterator<Id> {
    attached(isObject(this) && #packing in this);
    const { batch } = this.#packing;
    for (let from = 0; from < this.length; from += batch) {
      yield* this.#texts(from, Math.min(batch, this.length - from));
    }
  }

  /** Returns `count` IDs as strings, starting at the index `from`. */
  #texts(from: number, count: number): Id[] {
    const { batch, width } = this.#packing;
    const texts = new Array<Id>(count);
    for (let done = 0; done < count; done += batch) {
      const here = Math.min(batch, count - done);
      this.#write(from + done, here).cut(texts, done, here, width);
    }
    return texts;
  }

  /** Makes the backend encode `count` IDs, starting at the index `from`. */
  #write(from: number, count: number): Machine {
    const { machine, length, write } = this.#packing;
    const m = machine();
    m.bytes.set(byteRange(this.bytes, from * length, count * length));
    m.numbers[register.count] = count;
    m.check(m.calls[write]());
    return m;
  }
}

/**
 * Parses IDs, passed as an array of strings or as one string of concatenated IDs, and returns their packed bytes.
 *
 * @throws {PolyflakeError} `invalid_type`, `out_of_range` or `invalid_length` if the argument is invalid; the error for the
 * first invalid string, with its index as `item`.
 */
export function packIds(given: unknown, { machine, length, width, batch, read, readOne }: PackedFormat): Uint8Array {
  const texts = readTexts(given, width);
  const many = new Uint8Array(texts.count * length);
  for (let from = 0; from < texts.count; from += batch) {
    const to = Math.min(from + batch, texts.count);
    const m = machine();
    m.numbers[register.count] = to - from;
    if (!m.putAscii(texts.joined(from, to)) || m.calls[read]() !== 0) throwFirstError(texts, from, to, readOne);
    m.refreshViews();
    many.set(m.bytes.subarray(0, (to - from) * length), from * length);
  }
  return many;
}

/**
 * Returns the position that an index refers to, or undefined if it is out of range. A negative index counts from the end.
 *
 * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type.
 */
export function resolveIndex(index: number, length: number): number | undefined {
  const place = checkInteger(index, "index") < 0 ? index + length : index;
  return place >= 0 && place < length ? place : undefined;
}
