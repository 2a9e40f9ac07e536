import { load } from "#machine/sno";
import {
  arrayLength,
  attached,
  byteRange,
  checkAtMost,
  checkBoolean,
  checkInteger,
  checkTime,
  isBytes,
  isObject,
  runWithDates,
} from "../checks.js";
import { parseUuidBytes } from "../decode/checks.js";
import type { SnoId } from "../decode/sno.js";
import { bytesToUuid8, EPOCH_MS, type Parts, parse, TICK_MS, uuid8ToBytes } from "../decode/sno.js";
import { LENGTH, parseWords, TEXT_LENGTH, wordsToText } from "../decode/words.js";
import { type Description, describeFixedFormat } from "../describe.js";
import { PolyflakeError } from "../errors.js";
import { loadOnDemand } from "../machine.js";
import { fields } from "../members.js";
import { PackedTexts, packIds } from "../packed.js";
import { BATCH, register } from "../protocol.js";
import { elements, readItem } from "../texts.js";

export {
  type Fields,
  fromUuid8,
  hasMetabyte,
  isValid,
  metabyte,
  type Parts,
  parse,
  toBytes,
  toUuid,
  toUuid8,
  withMetabyte,
} from "../decode/sno.js";
export { fromBytes, fromUuid } from "../decode/sno-bytes.js";
export { LENGTH, TEXT_LENGTH } from "../decode/words.js";

/** The backend of this format. */
export const machine = /* @__PURE__ */ loadOnDemand(load);

/**
 * Returns a copy of an ID with the given partition (0..65535).
 *
 * @throws {PolyflakeError} the same errors as {@link parse}; `out_of_range` if the new value is out of range.
 */
export function withPartition(text: string, partition: number): SnoId {
  checkInteger(partition, "partition");
  const [high, low, upper, lower] = parseWords(text, "text");
  const word = checkAtMost(partition, "partition", 0xffff);
  return wordsToText([high, low, (upper & 0xff000) | (word >> 4), ((word & 15) << 16) | (lower & 0xffff)]);
}

/**
 * Returns a copy of an ID with the given sequence number (0..65535).
 *
 * @throws {PolyflakeError} the same errors as {@link parse}; `out_of_range` if the new value is out of range.
 */
export function withSequence(text: string, sequence: number): SnoId {
  checkInteger(sequence, "sequence");
  const [high, low, upper, lower] = parseWords(text, "text");
  return wordsToText([high, low, upper, (lower & 0xf0000) | checkAtMost(sequence, "sequence", 0xffff)]);
}

/**
 * Returns the lowest and the highest ID in the half-open time range `start`..`end`, for BETWEEN queries. Both IDs belong to the
 * range, so you can use them directly with BETWEEN. Times are Dates or integer Unix milliseconds. An ID is in the range if its
 * tick begins in the range.
 *
 * @throws {PolyflakeError} `time_out_of_range` if a bound is before 2010 or past 2079; `out_of_range` if the range is reversed
 * or contains no 4 ms tick.
 */
export function timeRange(start: Date | number, end: Date | number): { lowest: SnoId; highest: SnoId } {
  const range = [checkTime(start, "start"), checkTime(end, "end")];
  const m = machine();
  m.numbers.set(range, register.value);
  runWithDates([start, end], () => m.check(m.calls.snoTimeRange()));
  return { lowest: m.text(0) as SnoId, highest: m.text(1) as SnoId };
}

/** The last tick that fits in 39 bits. */
const LAST_TICK = 2 ** 39 - 1;

/**
 * Returns the ID with the given fields. You can also pass the result of {@link parse}, whose `timestamp` and `unixMs` are
 * ignored.
 *
 * @throws {PolyflakeError} `missing_field`, `invalid_type` or `out_of_range` with the `field` if a field is missing, has the
 * wrong type or is out of range.
 */
export function fromParts(parts: Parts): SnoId {
  const most = { tick: LAST_TICK, tickTock: 1, metabyte: 0xff, partition: 0xffff, sequence: 0xffff } as const;
  const names = Object.keys(most) as (keyof Parts)[];
  const given = fields(parts, "parts", names);
  const values = names.map((name) =>
    name === "tickTock" ? Number(checkBoolean(given[name], name)) : checkInteger(given[name], name),
  );
  const [tick, tickTock, metabyte, partition, sequence] = names.map((name, k) =>
    checkAtMost(values[k], name, most[name]),
  ) as number[];
  return wordsToText([
    Math.floor(tick! / 0x8_0000),
    ((tick! % 0x8_0000) << 1) | tickTock!,
    (metabyte! << 12) | (partition! >> 4),
    ((partition! & 15) << 16) | sequence!,
  ]);
}

const PACKING = {
  machine,
  length: LENGTH,
  width: TEXT_LENGTH,
  batch: BATCH,
  write: "snoTexts",
  read: "snoFromTexts",
  readOne: parse,
} as const;

/** A packed array of IDs, 10 bytes each. */
export class SnoArray extends PackedTexts<SnoId> {
  static override readonly name: string = "SnoArray";
  /**
   * Creates an array that uses the given packed bytes without copying them.
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type; `invalid_length` unless the length is a
   * multiple of 10.
   */
  constructor(bytes: Uint8Array) {
    super(bytes, PACKING);
  }

  /**
   * Creates an array of at most 16,777,216 IDs from an array of strings or from one string of concatenated IDs. Parsing one
   * concatenated string is ten times as fast as parsing an array.
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type; `invalid_length` or `invalid_character` if a
   * string is invalid, with its index as `item`; `out_of_range` for more than 16,777,216 IDs.
   */
  static from(ids: string | readonly string[]): SnoArray {
    return new SnoArray(packIds(ids, PACKING));
  }

  /**
   * Creates an array from version 8 UUIDs, which are the recommended form for IDs in a database. Pass them as strings or as
   * concatenated bytes.
   *
   * @throws {PolyflakeError} the same errors as {@link fromUuid8}, with `item` set to the ID's index; `invalid_type` if
   * the argument has the wrong type; `invalid_length` unless the number of bytes is a multiple of 16.
   */
  static fromUuid8(uuids: Uint8Array | readonly string[]): SnoArray {
    const rows = isBytes(uuids) ? splitUuids(uuids) : elements(uuids, "uuids").map(readUuid);
    const ids = new Uint8Array(rows.length * LENGTH);
    rows.forEach((uuid, k) =>
      ids.set(
        readItem(uuid, k, () => uuid8ToBytes(uuid, "uuids")),
        k * LENGTH,
      ),
    );
    return new SnoArray(ids);
  }

  /** Returns the IDs as version 8 UUIDs, 16 bytes each. */
  uuid8Column(): Uint8Array {
    attached(isObject(this) && #rows in this);
    const rows = this.#rows();
    const uuids = new Uint8Array(this.length * UUID_BYTES);
    for (let k = 0; k < this.length; k++) uuids.set(bytesToUuid8(rows.subarray(k * LENGTH)), k * UUID_BYTES);
    return uuids;
  }

  /** Returns the creation time of each ID, in Unix milliseconds. */
  unixMs(): Float64Array {
    attached(isObject(this) && #rows in this);
    const rows = this.#rows();
    return Float64Array.from({ length: this.length }, (_, k) => EPOCH_MS + readTick(rows, k) * TICK_MS);
  }

  /** Returns the metabyte of each ID. */
  metabytes(): Uint8Array {
    attached(isObject(this) && #rows in this);
    const rows = this.#rows();
    return Uint8Array.from({ length: this.length }, (_, k) => rows[k * LENGTH + METABYTE_OFFSET]!);
  }

  /** Returns the partition of each ID. */
  partitions(): Uint16Array {
    attached(isObject(this) && #rows in this);
    const rows = this.#rows();
    return Uint16Array.from({ length: this.length }, (_, k) => readUint16(rows, k * LENGTH + PARTITION_OFFSET));
  }

  /** Returns the sequence number of each ID. */
  sequences(): Uint16Array {
    attached(isObject(this) && #rows in this);
    const rows = this.#rows();
    return Uint16Array.from({ length: this.length }, (_, k) => readUint16(rows, k * LENGTH + SEQUENCE_OFFSET));
  }

  /** Returns the bytes of all complete IDs. The last ID can be incomplete, because the caller may have resized the array. */
  #rows(): Uint8Array {
    return byteRange(this.bytes, 0, this.length * LENGTH);
  }
}

const UUID_BYTES = 16;

/** Returns the bytes of each UUID. */
function splitUuids(bytes: Uint8Array): Uint8Array[] {
  const length = arrayLength(bytes);
  if (length % UUID_BYTES !== 0) {
    throw new PolyflakeError("invalid_length", `expected a multiple of ${UUID_BYTES} bytes, found ${length}`, {
      field: "uuids",
    });
  }
  return Array.from({ length: length / UUID_BYTES }, (_, k) => byteRange(bytes, k * UUID_BYTES, UUID_BYTES));
}

/** Returns the bytes of the UUID at the index `item` of a list. */
const readUuid = (text: unknown, item: number): number[] =>
  readItem(text, item, (text) => parseUuidBytes(text, "uuids"));

/** The positions of fields in the bytes of an ID. */
const METABYTE_OFFSET = 5;
const PARTITION_OFFSET = 6;
const SEQUENCE_OFFSET = 8;

/** Returns the tick of the ID at index `row`. */
function readTick(rows: Uint8Array, row: number): number {
  const at = row * LENGTH;
  const low = (rows[at + 1]! << 23) | (rows[at + 2]! << 15) | (rows[at + 3]! << 7) | (rows[at + 4]! >> 1);
  return rows[at]! * 2 ** 31 + low;
}

/** Reads a big-endian 16-bit integer from two bytes. */
function readUint16(rows: Uint8Array, at: number): number {
  return (rows[at]! << 8) | rows[at + 1]!;
}

/** Returns the format's size, fields, rate and time span. */
export function describe(): Description {
  return describeFixedFormat(
    [
      ["timestamp", "timestamp", 39],
      ["tick_tock", "bindable", 1],
      ["metabyte", "bindable", 8],
      ["partition", "bindable", 16],
      ["sequence", "sequence", 16],
    ],
    {
      perSecond: 16_384_000n,
      perSecondInAll: 1_073_741_824_000n,
      firstMs: 1_262_304_000_000n,
      lastMs: 3_461_327_255_548n,
      sortsByTime: true,
      below2_53: false,
      below2_63: false,
    },
  );
}
