import { attached, integers, isObject, lengthOfArray, partOfBytes } from "../checks.js";
import { BATCH, type Machine } from "../machine.js";
import { placeOf } from "../packed.js";
import { fewOf, present, textsOf } from "../show.js";
import { listed, refuseOne, type Texts } from "../texts.js";
import { decodeText, lengthInSlot, SLOT, TEXT_LENGTH } from "./ids.js";
import { machine } from "./machine.js";

/** Texts that one call reads, and where among the bytes their offsets lie: see bindings-js/src/ids/randflake.rs. */
const TEXTS = 960;
const OFFSETS = TEXTS * TEXT_LENGTH;

/** Many IDs, packed: 64 bits each. */
export class RandflakeArray implements Iterable<bigint> {
  static readonly name: string = "RandflakeArray";
  /** The IDs, in their order. */
  readonly ids: BigInt64Array;
  /** The JSON form: the texts, which {@link RandflakeArray.fromTexts} reads. */
  declare readonly toJSON: () => string[];

  /**
   * IDs over an array, which is not copied.
   *
   * @throws {PolyflakeError} `invalid_type`.
   */
  constructor(ids: BigInt64Array) {
    this.ids = integers(ids, "ids");
    present(this, textsOf, fewOf);
  }

  /**
   * The IDs of at most 16,777,216 texts.
   *
   * @throws {PolyflakeError} `invalid_type`; `invalid_length`, `invalid_character` with the position in its text, `not_canonical` or
   * `out_of_range`, each with the `item` where one text is refused; `out_of_range` for more texts.
   */
  static fromTexts(texts: readonly string[]): RandflakeArray {
    const given = listed(texts, 1, TEXT_LENGTH);
    const many = new BigInt64Array(given.count);
    const bytes = new Uint8Array(many.buffer);
    for (let from = 0; from < given.count; from += TEXTS) {
      const to = Math.min(from + TEXTS, given.count);
      const m = machine();
      if (!putTexts(m, given, from, to) || m.calls.randflakeFromTexts() !== 0) refuseOne(given, from, to, decodeText);
      m.look();
      bytes.set(m.bytes.subarray(0, (to - from) * 8), from * 8);
    }
    return new RandflakeArray(many);
  }

  /** How many IDs there are. */
  get length(): number {
    attached(isObject(this) && #texts in this);
    return lengthOfArray(this.ids);
  }

  /**
   * One ID; a negative index counts from the end. Undefined outside.
   *
   * @throws {PolyflakeError} `invalid_type`.
   */
  at(index: number): bigint | undefined {
    attached(isObject(this) && #texts in this);
    const place = placeOf(index, this.length);
    return place === undefined ? undefined : this.ids[place];
  }

  /** The texts of all. */
  texts(): string[] {
    attached(isObject(this) && #texts in this);
    const texts = new Array<string>(this.length);
    for (let from = 0; from < texts.length; from += BATCH) this.#texts(from, Math.min(BATCH, texts.length - from), texts);
    return texts;
  }

  *[Symbol.iterator](): IterableIterator<bigint> {
    attached(isObject(this) && #texts in this);
    for (let place = 0; place < this.length; place++) yield this.ids[place]!;
  }

  /** Puts the texts of some into `texts`. */
  #texts(from: number, count: number, texts: string[]): void {
    const m = machine();
    m.bytes.set(partOfBytes(this.ids, from * 8, count * 8));
    m.numbers[0] = count;
    m.check(m.calls.randflakeTexts());
    m.cut(texts, from, count, SLOT, (index) => lengthInSlot(m, index));
  }
}

/** Puts some texts where a call finds them, side by side, and where each ends; false if one cannot be a text of an ID. */
function putTexts(m: Machine, texts: Texts, from: number, to: number): boolean {
  if (!m.putAscii(texts.joined(from, to))) return false;
  const offsets = new Int32Array(m.bytes.buffer, m.bytes.byteOffset + OFFSETS, to - from + 1);
  offsets[0] = 0;
  for (let k = from; k < to; k++) offsets[k - from + 1] = offsets[k - from]! + texts.at(k).length;
  m.numbers[0] = to - from;
  return true;
}
