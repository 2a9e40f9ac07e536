import { integers, lengthOfArray, partOfBytes } from "../checks.js";
import { BATCH } from "../machine.js";
import { placeOf } from "../packed.js";
import { machine } from "./machine.js";

/** Many IDs, packed: 64 bits each. */
export class RandflakeArray implements Iterable<bigint> {
  /** The IDs, in their order. */
  readonly ids: BigInt64Array;

  /**
   * IDs over an array, which is not copied.
   *
   * @throws {PolyflakeError} `invalid_type`.
   */
  constructor(ids: BigInt64Array) {
    this.ids = integers(ids, "ids");
  }

  /** How many IDs there are. */
  get length(): number {
    return lengthOfArray(this.ids);
  }

  /**
   * One ID; a negative index counts from the end. Undefined outside.
   *
   * @throws {PolyflakeError} `invalid_type`.
   */
  at(index: number): bigint | undefined {
    const place = placeOf(index, this.length);
    return place === undefined ? undefined : this.ids[place];
  }

  /** The texts of all. */
  texts(): string[] {
    const texts: string[] = [];
    for (let from = 0; from < this.length; from += BATCH) texts.push(...this.#some(from, BATCH));
    return texts;
  }

  *[Symbol.iterator](): IterableIterator<bigint> {
    for (let place = 0; place < this.length; place++) yield this.ids[place]!;
  }

  /** The texts of up to `count` IDs from one on: each in 16 bytes, of which the last has its length. */
  #some(from: number, count: number): string[] {
    const m = machine();
    const here = Math.min(count, this.length - from);
    m.bytes.set(partOfBytes(this.ids, from * 8, here * 8));
    m.numbers[0] = here;
    m.check(m.calls.randflakeTexts());
    return Array.from({ length: here }, (_, index) => m.text(index).slice(0, m.bytes[16 * index + 15]));
  }
}
