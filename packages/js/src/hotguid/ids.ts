import { load } from "#machine/hotguid";
import {
  arrayLength,
  attached,
  byteRange,
  checkAtMost,
  checkBoolean,
  checkBytes,
  checkInteger,
  checkTime,
  isObject,
  runWithDates,
} from "../checks.js";
import { UUID_LENGTH } from "../decode/checks.js";
import type { HotGuidId } from "../decode/hotguid.js";
import { type Parts, parse, type Uuid8Parts } from "../decode/hotguid.js";
import { idOf, LENGTH } from "../decode/hotguid-bytes.js";
import { type Description, describeFixedFormat } from "../describe.js";
import { PolyflakeError } from "../errors.js";
import { loadOnDemand } from "../machine.js";
import { fields, members } from "../members.js";
import { PackedTexts, packIds } from "../packed.js";
import { register } from "../protocol.js";

export {
  isValid,
  type Parts,
  parse,
  parts,
  shardKey,
  timestamp,
  toBytes,
  type Uuid8Parts,
  uuid8Parts,
} from "../decode/hotguid.js";

export { fromBytes, fromDotnetBytes, fromSql, LENGTH, toDotnetBytes, toSql } from "../decode/hotguid-bytes.js";

/** The backend of this format. */
export const machine = /* @__PURE__ */ loadOnDemand(load);

/** The number of characters in an encoded ID. */
export const TEXT_LENGTH = UUID_LENGTH;

/** The number of machine bytes. */
const MACHINE_LENGTH = 5;

/** The maximum value of the 34 machine bits in a version 8 UUID. */
const MAX_MACHINE = 2 ** 34 - 1;

/** The last second that fits in 32 bits. */
const LAST_SECOND = 2 ** 32 - 1;

/**
 * Returns the ID with the given fields. The caller must ensure that no two calls return the same ID.
 *
 * @throws {PolyflakeError} `missing_field` if a field is missing; `invalid_type` if a field has the wrong type;
 * `invalid_length` unless `machine` has 5 bytes; `time_out_of_range` if the timestamp is out of range; `out_of_range` if any
 * other field is out of range.
 */
export function fromParts(parts: Parts): HotGuidId {
  const given = fields(parts, "parts", ["timestamp", "machine", "counter", "shardKey"]);
  const length = arrayLength(checkBytes(given.machine, "machine"));
  if (length !== MACHINE_LENGTH) {
    const message = `expected ${MACHINE_LENGTH} bytes of machine, found ${length}`;
    throw new PolyflakeError("invalid_length", message, { field: "machine" });
  }
  const [timestamp, counter, shardKey] = numbersOf(given);
  const [a, b, c, d, e] = byteRange(given.machine as Uint8Array, 0, MACHINE_LENGTH) as unknown as [
    number,
    number,
    number,
    number,
    number,
  ];
  return idOf([
    ...bigEndianBytes(timestamp),
    b,
    a,
    d,
    c,
    e,
    ...bigEndianBytes(counter).slice(1),
    ...bigEndianBytes(shardKey).reverse(),
  ]);
}

/**
 * Returns the version 8 UUID with the given fields. The caller must ensure that no two calls return the same ID.
 *
 * @throws {PolyflakeError} `missing_field` if a field is missing; `invalid_type` if a field has the wrong type;
 * `time_out_of_range` if the timestamp is out of range; `out_of_range` if any other field is out of range.
 */
export function fromUuid8Parts(parts: Uuid8Parts): HotGuidId {
  const given = fields(parts, "parts", ["timestamp", "machine", "counter", "shardKey"]);
  checkInteger(given.machine, "machine");
  const [timestamp, counter, shardKey] = numbersOf(given);
  const machine = checkAtMost(given.machine, "machine", MAX_MACHINE);
  const [high, low] = [Math.floor(machine / 0x4_0000), machine & 0x3_ffff];
  const middle = [high >> 8, high & 0xff, 0x80 | (low >> 14), (low >> 6) & 0xff, 0x80 | (low & 0x3f)];
  return idOf([
    ...bigEndianBytes(timestamp),
    ...middle,
    ...bigEndianBytes(counter).slice(1),
    ...bigEndianBytes(shardKey),
  ]);
}

/** Checks and returns the fields that are the same in {@link Parts} and {@link Uuid8Parts}. */
function numbersOf(
  given: Partial<Record<keyof Parts, unknown>>,
): [timestamp: number, counter: number, shardKey: number] {
  const names = ["timestamp", "counter", "shardKey"] as const;
  const [timestamp, ...others] = names.map((name) => checkInteger(given[name], name)) as [number, number, number];
  const [counter, shardKey] = [
    checkAtMost(others[0], "counter", 0xff_ffff),
    checkAtMost(others[1], "shardKey", 0xffff_ffff),
  ];
  if (timestamp >= 0 && timestamp <= LAST_SECOND) return [timestamp, counter, shardKey];
  const message = `expected timestamp from 0 to ${LAST_SECOND} s, found ${timestamp}`;
  throw new PolyflakeError("time_out_of_range", message, { field: "timestamp" });
}

/** Returns the 4 bytes of a number, most significant byte first. */
function bigEndianBytes(number: number): number[] {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff);
}

/**
 * Returns the lowest and the highest ID in the half-open time range `start`..`end`, for BETWEEN queries. Both IDs belong to the
 * range, so you can use them directly with BETWEEN. Times are Dates or integer Unix milliseconds. An ID is in the range if its
 * second begins in the range.
 *
 * With the `sql` option, this function returns GUIDs that SQL Server sorts by time.
 *
 * @throws {PolyflakeError} `invalid_type` if an argument has the wrong type; `time_out_of_range` if a bound is before 1970 or
 * past 2106; `out_of_range` if the range is reversed or contains no second.
 */
export function timeRange(
  start: Date | number,
  end: Date | number,
  options?: { sql?: false },
): { lowest: HotGuidId; highest: HotGuidId };
export function timeRange(
  start: Date | number,
  end: Date | number,
  options: { sql?: boolean },
): { lowest: string; highest: string };
export function timeRange(
  start: Date | number,
  end: Date | number,
  options: { sql?: boolean } = {},
): { lowest: string; highest: string } {
  const range = [checkTime(start, "start"), checkTime(end, "end")];
  const { sql } = members(options, "options", ["sql"]);
  const m = machine();
  m.numbers.set([...range, Number(checkBoolean(sql, "sql"))], register.value);
  runWithDates([start, end], () => m.check(m.calls.hotguidTimeRange()));
  return { lowest: m.ascii(0, TEXT_LENGTH), highest: m.ascii(TEXT_LENGTH, TEXT_LENGTH) };
}

const PACKING = {
  machine,
  length: LENGTH,
  width: TEXT_LENGTH,
  /** The maximum number of encoded IDs in one call. */
  batch: 448,
  write: "hotguidTexts",
  read: "hotguidFromTexts",
  readOne: parse,
} as const;

/** A packed array of IDs, 16 bytes each, in the byte order of the string form. */
export class HotGuidArray extends PackedTexts<HotGuidId> {
  static override readonly name: string = "HotGuidArray";
  /**
   * Creates an array that uses the given packed bytes without copying them.
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type; `invalid_length` unless the length is a
   * multiple of 16.
   */
  constructor(bytes: Uint8Array) {
    super(bytes, PACKING);
  }

  /**
   * Creates an array of at most 16,777,216 IDs from an array of strings, in upper or lower case, or from one string of
   * concatenated IDs.
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type; `invalid_length` or `invalid_character` if a
   * string is invalid, with its index as `item`; `out_of_range` for more than 16,777,216 IDs.
   */
  static from(ids: string | readonly string[]): HotGuidArray {
    return new HotGuidArray(packIds(ids, PACKING));
  }

  /** Returns the creation time of each ID, in Unix seconds. */
  timestamps(): Uint32Array {
    attached(isObject(this) && #words in this);
    return this.#words(0, false);
  }

  /** Returns the concatenated machine bytes of all IDs, 5 bytes per ID, in the same order as in {@link parts}. */
  machines(): Uint8Array {
    attached(isObject(this) && #words in this);
    const rows = byteRange(this.bytes, 0, this.length * LENGTH);
    const place = (k: number): number =>
      Math.floor(k / MACHINE_LENGTH) * LENGTH + MACHINE_BYTE_POSITIONS[k % MACHINE_LENGTH]!;
    return Uint8Array.from({ length: this.length * MACHINE_LENGTH }, (_, k) => rows[place(k)]!);
  }

  /** Returns the counter of each ID. */
  counters(): Uint32Array {
    attached(isObject(this) && #words in this);
    return this.#words(8, false).map((word) => word & 0xff_ffff);
  }

  /**
   * Returns the shard key of each ID. This method reads the compatible form, like {@link parts}. In version 8 UUIDs, the bytes
   * of the shard key are in a different order.
   */
  shardKeys(): Uint32Array {
    attached(isObject(this) && #words in this);
    return this.#words(12, true);
  }

  /** Returns the 32-bit number at the given position in each ID. */
  #words(at: number, isLittle: boolean): Uint32Array {
    const rows = byteRange(this.bytes, 0, this.length * LENGTH);
    const view = new DataView(rows.buffer, rows.byteOffset, rows.length);
    return Uint32Array.from({ length: this.length }, (_, k) => view.getUint32(k * LENGTH + at, isLittle));
  }
}

/** The positions of the machine bytes in an ID. */
const MACHINE_BYTE_POSITIONS = [5, 4, 7, 6, 8];

/** Returns the format's size, fields, rate and time span. The fields are in the same order as in the string form. */
export function describe(): Description {
  return describeFixedFormat(
    [
      ["timestamp", "timestamp", 32],
      ["machine", "bindable", 40],
      ["counter", "sequence", 24],
      ["shard_key", "bindable", 32],
    ],
    {
      perSecond: 16_777_216n,
      perSecondInAll: 18_446_744_073_709_551_616n,
      firstMs: 0n,
      lastMs: 4_294_967_295_000n,
      sortsByTime: true,
      below2_53: false,
      below2_63: false,
    },
  );
}
