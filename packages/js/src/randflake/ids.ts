import { load } from "#machine/randflake";
import {
  arrayLength,
  attached,
  byteRange,
  checkBigInt64Array,
  checkSigned,
  checkUnsigned,
  isObject,
} from "../checks.js";
import type { RandflakeId, RandflakeText } from "../decode/randflake.js";
import { decodeText } from "../decode/randflake.js";
import { type Description, describeFixedFormat } from "../describe.js";
import { invalidType } from "../errors.js";
import { loadOnDemand, type Machine } from "../machine.js";
import { resolveIndex } from "../packed.js";
import { BATCH, register } from "../protocol.js";
import { addDisplay, inspectFirstIds, textsToJson } from "../show.js";
import { checkTexts, elements, readItem, type Texts, throwFirstError } from "../texts.js";

export { decodeText, encodeText } from "../decode/randflake.js";

/** The backend of this format and of its cipher. */
export const machine = /* @__PURE__ */ loadOnDemand(load);

/** The number of bytes in the slot for an encoded ID. The slot is padded with zeros. */
export const SLOT_LENGTH = 16;
/** The maximum length of an encoded ID. */
export const TEXT_LENGTH = 13;

/** The fields of an ID. */
export interface Parts {
  /** The creation time, in Unix seconds, 1730000000..2803741823. */
  timestamp: number;
  /** The node (0..131071) of the generator that created the ID. */
  node: number;
  /** The sequence number, 0..131071, which distinguishes IDs that a node generated in the same second. */
  sequence: number;
}

/** Returns the length of the encoded ID in a slot. */
export function encodedLength({ bytes }: Pick<Machine, "bytes">, index: number): number {
  let length = TEXT_LENGTH;
  while (bytes[index * SLOT_LENGTH + length - 1] === 0) length--;
  return length;
}

/**
 * Returns the 64 bits of an ID as an unsigned integer.
 *
 * @throws {PolyflakeError} `invalid_type` unless the ID is a bigint; `out_of_range` unless it fits in a signed 64-bit integer.
 */
export function toUnsigned(id: bigint): bigint {
  return BigInt.asUintN(64, checkSigned(id, "id"));
}

/**
 * Returns the ID with the same 64 bits as the given unsigned integer.
 *
 * @throws {PolyflakeError} `invalid_type` unless the value is a bigint; `out_of_range` outside 0..2^64-1.
 */
export function fromUnsigned(value: bigint): RandflakeId {
  return BigInt.asIntN(64, checkUnsigned(value, "value")) as RandflakeId;
}

/**
 * The maximum number of strings that one call reads (`MAX_TEXTS`), and the position in the scratch area's bytes at which
 * the end offsets of the strings begin (`OFFSETS_START`). See crates/bindings-js/src/randflake/ids.rs.
 */
const MAX_TEXTS = 960;
const OFFSETS_START = MAX_TEXTS * TEXT_LENGTH;

/** A packed array of IDs, 64 bits each. */
export class RandflakeArray implements Iterable<RandflakeId> {
  static readonly name: string = "RandflakeArray";
  /** The IDs, in the order in which they were generated or passed. */
  readonly ids: BigInt64Array;
  /** Returns the JSON representation, an array of encoded IDs, which {@link RandflakeArray.from} reads. */
  declare readonly toJSON: () => RandflakeText[];

  /**
   * Creates an array that uses the given typed array without copying it.
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type.
   */
  constructor(ids: BigInt64Array) {
    this.ids = checkBigInt64Array(ids, "ids");
    addDisplay(this, textsToJson, inspectFirstIds);
  }

  /**
   * Creates an array of at most 16,777,216 IDs from integers or strings.
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type; `invalid_length`, `invalid_character`,
   * `not_canonical` or `out_of_range` if an ID is invalid, with its index as `item`; `out_of_range` for more than 16,777,216
   * IDs.
   */
  static from(ids: readonly (bigint | string)[]): RandflakeArray {
    const all = elements(ids);
    if (!all.every((id) => typeof id === "string"))
      return new RandflakeArray(BigInt64Array.from(all, (id, item) => readItem(id, item, readId)));
    const given = checkTexts(all, 1, TEXT_LENGTH);
    const many = new BigInt64Array(given.count);
    const bytes = new Uint8Array(many.buffer);
    for (let from = 0; from < given.count; from += MAX_TEXTS) {
      const to = Math.min(from + MAX_TEXTS, given.count);
      const m = machine();
      if (!putTexts(m, given, from, to) || m.calls.randflakeFromTexts() !== 0)
        throwFirstError(given, from, to, decodeText);
      m.refreshViews();
      bytes.set(m.bytes.subarray(0, (to - from) * 8), from * 8);
    }
    return new RandflakeArray(many);
  }

  /** The number of IDs. */
  get length(): number {
    attached(isObject(this) && #texts in this);
    return arrayLength(this.ids);
  }

  /**
   * Returns the ID at an index, or undefined if the index is out of range. A negative index counts from the end.
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type.
   */
  at(index: number): RandflakeId | undefined {
    attached(isObject(this) && #texts in this);
    const place = resolveIndex(index, this.length);
    return place === undefined ? undefined : (this.ids[place] as RandflakeId);
  }

  /** Returns all IDs as strings. */
  texts(): RandflakeText[] {
    attached(isObject(this) && #texts in this);
    const texts = new Array<RandflakeText>(this.length);
    for (let from = 0; from < texts.length; from += BATCH)
      this.#texts(from, Math.min(BATCH, texts.length - from), texts);
    return texts;
  }

  /** Iterates over the IDs. */
  *[Symbol.iterator](): IterableIterator<RandflakeId> {
    attached(isObject(this) && #texts in this);
    for (let place = 0; place < this.length; place++) yield this.ids[place] as RandflakeId;
  }

  /** Encodes `count` IDs into `texts`, starting at the index `from`. */
  #texts(from: number, count: number, texts: string[]): void {
    const m = machine();
    m.bytes.set(byteRange(this.ids, from * 8, count * 8));
    m.numbers[register.count] = count;
    m.check(m.calls.randflakeTexts());
    m.cut(texts, from, count, SLOT_LENGTH, (index) => encodedLength(m, index));
  }
}

/** Returns the ID for an integer or an encoded ID. */
function readId(id: unknown): bigint {
  if (typeof id === "bigint") return checkSigned(id, "ids");
  if (typeof id === "string") return decodeText(id);
  throw invalidType("bigint or string", id, { field: "ids" });
}

/**
 * Writes concatenated strings, and the position where each string ends, for a call. Returns false if any of the strings
 * cannot be an encoded ID.
 */
function putTexts(m: Machine, texts: Texts, from: number, to: number): boolean {
  if (!m.putAscii(texts.joined(from, to))) return false;
  const offsets = new Int32Array(m.bytes.buffer, m.bytes.byteOffset + OFFSETS_START, to - from + 1);
  offsets[0] = 0;
  for (let k = from; k < to; k++) offsets[k - from + 1] = offsets[k - from]! + texts.at(k).length;
  m.numbers[register.count] = to - from;
  return true;
}

/**
 * Returns the format's size, fields, rate and time span. The description lists the fields of the unencrypted value.
 */
export function describe(): Description {
  return describeFixedFormat(
    [
      ["timestamp", "timestamp", 30],
      ["node", "bindable", 17],
      ["sequence", "sequence", 17],
    ],
    {
      perSecond: 131_072n,
      perSecondInAll: 17_179_869_184n,
      firstMs: 1_730_000_000_000n,
      lastMs: 2_803_741_823_000n,
      sortsByTime: false,
      below2_53: false,
      below2_63: false,
    },
  );
}
