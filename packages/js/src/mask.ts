import { attached, bytes, isObject, lengthOfArray, partOfBytes, within } from "./checks.js";
import { invalidType, PolyflakeError } from "./errors.js";
import { placeOf } from "./packed.js";
import { present } from "./show.js";

/** Most IDs of a mask: a Uint8Array of their bits has at most 2^32 / 8 bytes everywhere. */
const MOST = 2 ** 32;

/** A filter over many IDs: which of them pass. */
export class Mask implements Iterable<boolean> {
  static readonly name: string = "Mask";
  /** The JSON form: a boolean for each ID. */
  declare readonly toJSON: () => boolean[];
  readonly #bits: Uint8Array;
  readonly #length: number;

  /**
   * A mask of `length` IDs over packed bits, which are copied: a bit for each ID, from the lowest of each byte on. Bits past the end
   * are ignored.
   *
   * @throws {PolyflakeError} `invalid_type`; `out_of_range`; `invalid_length` unless there is a byte for every eight IDs, rounded up.
   */
  constructor(bits: Uint8Array, length: number) {
    const found = lengthOfArray(bytes(bits, "bits"));
    const expected = Math.ceil(within(length, "length", MOST) / 8);
    if (found !== expected) {
      throw new PolyflakeError("invalid_length", `expected ${expected} bytes of bits, found ${found}`, {
        field: "bits",
      });
    }
    this.#length = length;
    this.#bits = new Uint8Array(partOfBytes(bits, 0, found));
    if (length % 8 > 0) this.#bits[expected - 1]! &= (1 << (length % 8)) - 1;
    present(this, booleansOf, countOf);
  }

  /** Number of IDs, whether they pass or not. */
  get length(): number {
    attached(isObject(this) && #bits in this);
    return this.#length;
  }

  /** A copy of the bits, one for each ID, from the lowest of each byte on; bits past the end are 0. */
  get bits(): Uint8Array {
    attached(isObject(this) && #bits in this);
    return this.#bits.slice();
  }

  /** Number of IDs that pass. */
  count(): number {
    attached(isObject(this) && #bits in this);
    let count = 0;
    for (let bits of this.#bits) for (; bits > 0; bits &= bits - 1) count++;
    return count;
  }

  /**
   * Returns whether the ID at an index passes, or undefined if there is none; a negative index counts from the end.
   *
   * @throws {PolyflakeError} `invalid_type`.
   */
  at(index: number): boolean | undefined {
    attached(isObject(this) && #bits in this);
    const place = placeOf(index, this.#length);
    return place === undefined ? undefined : has(this.#bits, place);
  }

  /**
   * The IDs that pass both masks.
   *
   * @throws {PolyflakeError} `invalid_type`; `invalid_length` unless both are of the same number of IDs.
   */
  and(other: Mask): Mask {
    attached(isObject(this) && #bits in this);
    const bits = bitsOf(other, this.#length, "other");
    return new Mask(
      this.#bits.map((byte, k) => byte & bits[k]!),
      this.#length,
    );
  }

  /**
   * The IDs that pass at least one of the masks.
   *
   * @throws {PolyflakeError} as {@link Mask.and}.
   */
  or(other: Mask): Mask {
    attached(isObject(this) && #bits in this);
    const bits = bitsOf(other, this.#length, "other");
    return new Mask(
      this.#bits.map((byte, k) => byte | bits[k]!),
      this.#length,
    );
  }

  /** The IDs that do not pass. */
  not(): Mask {
    attached(isObject(this) && #bits in this);
    return new Mask(
      this.#bits.map((byte) => ~byte),
      this.#length,
    );
  }

  /** Iterates over the bits, as booleans. */
  *[Symbol.iterator](): IterableIterator<boolean> {
    attached(isObject(this) && #bits in this);
    for (let place = 0; place < this.#length; place++) yield has(this.#bits, place);
  }
}

/** The mask of the IDs, `length` of them, that pass a test of their index. */
export function maskOf(length: number, passes: (index: number) => boolean): Mask {
  const bits = new Uint8Array(Math.ceil(length / 8));
  for (let k = 0; k < length; k++) if (passes(k)) bits[k >> 3]! |= 1 << (k & 7);
  return new Mask(bits, length);
}

/**
 * The bits of a mask of `length` IDs.
 *
 * @throws {PolyflakeError} `invalid_type`; `invalid_length` for a mask of another length.
 */
export function bitsOf(mask: unknown, length: number, field: string): Uint8Array {
  if (!(mask instanceof Mask)) throw invalidType("Mask", mask, { field });
  if (mask.length === length) return mask.bits;
  throw new PolyflakeError("invalid_length", `expected a mask of ${length} IDs, found one of ${mask.length}`, {
    field,
  });
}

/** Returns whether the ID at a position passes. */
export function has(bits: Uint8Array, place: number): boolean {
  return ((bits[place >> 3]! >> (place & 7)) & 1) === 1;
}

function booleansOf(this: Mask): boolean[] {
  return [...this];
}

function countOf(this: Mask): string {
  return `${this.constructor.name}(${this.length}) { ${this.count()} pass }`;
}
