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
    const texts = new Array<string>(this.length);
    for (let from = 0; from < texts.length; from += BATCH) this.#texts(from, Math.min(BATCH, texts.length - from), texts);
    return texts;
  }

  *[Symbol.iterator](): IterableIterator<bigint> {
    for (let place = 0; place < this.length; place++) yield this.ids[place]!;
  }

  /** Puts the texts of some into `texts`: each in a cell of 16 bytes, of which the last has its length. */
  #texts(from: number, count: number, texts: string[]): void {
    const m = machine();
    m.bytes.set(partOfBytes(this.ids, from * 8, count * 8));
    m.numbers[0] = count;
    m.check(m.calls.randflakeTexts());
    m.cut(texts, from, count, 16, (index) => m.bytes[16 * index + 15]!);
  }
}
