import { bytes as checkedBytes, integer, lengthOfBytes, partOfBytes } from "../checks.js";
import { PolyflakeError } from "../errors.js";
import { BATCH, machine } from "../machine.js";
import { LENGTH } from "./ids.js";

/** Many IDs, packed: 10 bytes each. */
export class SnoArray implements Iterable<string> {
  /** The packed bytes, 10 an ID, in the order of the IDs. */
  readonly bytes: Uint8Array;

  /**
   * IDs over packed bytes, which are not copied.
   *
   * @throws {PolyflakeError} `invalid_type`; `invalid_length` for other than a multiple of 10.
   */
  constructor(bytes: Uint8Array) {
    const length = lengthOfBytes(checkedBytes(bytes, "bytes"));
    if (length % LENGTH !== 0) {
      throw new PolyflakeError("invalid_length", `expected a multiple of ${LENGTH} bytes, found ${length}`);
    }
    this.bytes = bytes;
  }

  /** How many IDs there are. */
  get length(): number {
    return Math.floor(lengthOfBytes(this.bytes) / LENGTH);
  }

  /**
   * The text of one ID; a negative index counts from the end. Undefined outside.
   *
   * @throws {PolyflakeError} `invalid_type`.
   */
  at(index: number): string | undefined {
    const place = integer(index, "index") < 0 ? index + this.length : index;
    return place >= 0 && place < this.length ? this.#some(place, 1)[0] : undefined;
  }

  /** The texts of all. */
  texts(): string[] {
    const texts: string[] = [];
    for (let from = 0; from < this.length; from += BATCH) texts.push(...this.#some(from, BATCH));
    return texts;
  }

  *[Symbol.iterator](): IterableIterator<string> {
    for (let from = 0; from < this.length; from += BATCH) yield* this.#some(from, BATCH);
  }

  /** The texts of up to `count` IDs from one on. */
  #some(from: number, count: number): string[] {
    const m = machine();
    const here = Math.min(count, this.length - from);
    m.bytes.set(partOfBytes(this.bytes, from * LENGTH, here * LENGTH));
    m.numbers[0] = here;
    m.check(m.calls.snoTexts());
    return Array.from({ length: here }, (_, index) => m.text(index));
  }
}
