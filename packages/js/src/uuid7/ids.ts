import { load } from "#machine/uuid7";
import {
  attached,
  byteRange,
  checkAtMost,
  checkInteger,
  checkSixteenBytes,
  checkTime,
  isObject,
  runWithDates,
} from "../checks.js";
import { isVersion7, notVersion7Error, toDisplayValue, UUID_LENGTH, uuidText } from "../decode/checks.js";
import type { Uuid7Id } from "../decode/uuid7.js";
import { type Parts, parse } from "../decode/uuid7.js";
import { type Description, describeFixedFormat } from "../describe.js";
import { prepareEntropy } from "../entropy.js";
import { invalidType, outOfRange, PolyflakeError } from "../errors.js";
import { loadOnDemand } from "../machine.js";
import { fields } from "../members.js";
import { PackedTexts, packIds } from "../packed.js";
import { register } from "../protocol.js";
import { provideKeys } from "./keys.js";

export { isValid, type Parts, parse, parts, toBytes, unixMs, workerId } from "../decode/uuid7.js";

/** The backend of this format. */
export const machine = /* @__PURE__ */ loadOnDemand(load);

/** The number of bytes in an ID. */
export const LENGTH = 16;

/** The number of characters in an encoded ID. */
export const TEXT_LENGTH = UUID_LENGTH;

/** The last millisecond that fits in 48 bits. */
const LAST_MS = 2 ** 48 - 1;
const LAST_SEQUENCE = 2 ** 18 - 1;
const MAX_RANDOM = (1n << 56n) - 1n;

/**
 * Returns the ID with the given fields. The caller must ensure that no two calls return the same ID.
 *
 * @throws {PolyflakeError} `missing_field` if a field is missing; `invalid_type` if a field has the wrong type;
 * `time_out_of_range` if the time is out of range; `out_of_range` if any other field is out of range.
 */
export function fromParts(parts: Parts): Uuid7Id {
  const given = fields(parts, "parts", ["unixMs", "sequence", "random"]);
  const [unixMs, sequence] = [checkInteger(given.unixMs, "unixMs"), checkInteger(given.sequence, "sequence")];
  const { random } = given;
  if (typeof random !== "bigint") throw invalidType("bigint", random, { field: "random" });
  if (unixMs < 0 || unixMs > LAST_MS) {
    const message = `expected unixMs from 0 to ${LAST_MS} ms, found ${unixMs}`;
    throw new PolyflakeError("time_out_of_range", message, { field: "unixMs" });
  }
  checkAtMost(sequence, "sequence", LAST_SEQUENCE);
  if (random < 0n || random > MAX_RANDOM) throw outOfRange(0n, MAX_RANDOM, toDisplayValue(random), "random");
  const bytes = Array.from(bigEndianBytes(BigInt(unixMs), 6));
  bytes.push(0x70 | (sequence >> 14), (sequence >> 6) & 0xff, 0x80 | (sequence & 63), ...bigEndianBytes(random, 7));
  return uuidText(bytes) as Uuid7Id;
}

/** Returns the lowest `count` bytes of an integer, most significant byte first. */
function bigEndianBytes(integer: bigint, count: number): number[] {
  return Array.from({ length: count }, (_, k) => Number((integer >> BigInt(8 * (count - 1 - k))) & 0xffn));
}

/**
 * Returns the ID that consists of the given 16 bytes, in the order of the string form.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is a Uint8Array; `invalid_length` unless it has 16 bytes;
 * `not_canonical` if the UUID has a different version or variant.
 */
export function fromBytes(id: Uint8Array): Uuid7Id {
  const bytes = checkSixteenBytes(id);
  if (isVersion7(bytes)) return uuidText(bytes) as Uuid7Id;
  throw notVersion7Error("id");
}

/**
 * Returns a new ID with an explicit creation time, for a row that exists already. The time is a Date or integer Unix
 * milliseconds.
 *
 * No generator takes part in the call: it changes neither the time nor the sequence of any generator, it never waits, and
 * the ID contains no worker ID. The 74 bits after the time are new random bits in each call. Two IDs of the same
 * millisecond are equal with a probability of 2^-74, and they are in no particular order.
 *
 * ```js
 * const createdAt = new Date("2026-01-01");
 * uuid7.unixMs(uuid7.generateAt(createdAt)); // 1767225600000
 * ```
 *
 * @throws {PolyflakeError} `invalid_type` if the time has the wrong type; `time_out_of_range` if it is before 1970 or past the
 * format's last millisecond; `entropy_unavailable` if the operating system provides no random bytes.
 */
export function generateAt(time: Date | number): Uuid7Id {
  const unixMs = checkTime(time, "time");
  const m = machine();
  provideKeys(m);
  prepareEntropy();
  m.numbers[register.value] = unixMs;
  runWithDates([time], () => m.check(m.calls.uuid7GenerateAt()));
  return m.ascii(0, TEXT_LENGTH) as Uuid7Id;
}

/**
 * Returns the lowest and the highest ID in the half-open time range `start`..`end`, for BETWEEN queries. Both IDs belong to
 * the range, so you can use them directly with BETWEEN. Times are Dates or integer Unix milliseconds. Any ID, including an
 * ID from another library, is in the range if its millisecond begins in the range.
 *
 * @throws {PolyflakeError} `invalid_type` if a time has the wrong type; `time_out_of_range` if a time is before 1970 or
 * past the format's last millisecond; `out_of_range` if the range is reversed or contains no millisecond.
 */
export function timeRange(start: Date | number, end: Date | number): { lowest: Uuid7Id; highest: Uuid7Id } {
  const range = [checkTime(start, "start"), checkTime(end, "end")];
  const m = machine();
  m.numbers.set(range, register.value);
  runWithDates([start, end], () => m.check(m.calls.uuid7TimeRange()));
  const [lowest, highest] = [m.ascii(0, TEXT_LENGTH), m.ascii(TEXT_LENGTH, TEXT_LENGTH)];
  return { lowest: lowest as Uuid7Id, highest: highest as Uuid7Id };
}

const PACKING = {
  machine,
  length: LENGTH,
  width: TEXT_LENGTH,
  /** The number of encoded IDs that fit in one call. */
  batch: 448,
  write: "uuid7Texts",
  read: "uuid7FromTexts",
  readOne: parse,
} as const;

/** A packed array of IDs, 16 bytes each, in the byte order of the string form. */
export class Uuid7Array extends PackedTexts<Uuid7Id> {
  static override readonly name: string = "Uuid7Array";
  /**
   * Creates an array that uses the given packed bytes without copying them. Reading an ID as a string throws `not_canonical` if
   * the bytes have a different version or variant.
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
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type; `invalid_length`, `invalid_character` or
   * `not_canonical` if a string is invalid, with its index as `item`; `out_of_range` for more than 16,777,216 IDs.
   */
  static from(ids: string | readonly string[]): Uuid7Array {
    return new Uuid7Array(packIds(ids, PACKING));
  }

  /** Returns the creation time of each ID, in Unix milliseconds. */
  unixMs(): Float64Array {
    attached(isObject(this) && #columnOf in this);
    return this.#columnOf((view, at) => view.getUint32(at) * 0x1_0000 + view.getUint16(at + 4));
  }

  /** Returns the sequence of each ID. */
  sequences(): Float64Array {
    attached(isObject(this) && #columnOf in this);
    return this.#columnOf((view, at) => ((view.getUint16(at + 6) & 0xfff) << 6) | (view.getUint8(at + 8) & 63));
  }

  /** Returns the worker ID of each ID. The value is random if the generator had no worker ID. */
  workerIds(): Float64Array {
    attached(isObject(this) && #columnOf in this);
    return this.#columnOf((view, at) => view.getUint16(at + 9));
  }

  #columnOf(read: (view: DataView, at: number) => number): Float64Array {
    const rows = byteRange(this.bytes, 0, this.length * LENGTH);
    const view = new DataView(rows.buffer, rows.byteOffset, rows.length);
    return Float64Array.from({ length: this.length }, (_, k) => read(view, k * LENGTH));
  }
}

/** Returns the format's size, fields, rate and time span. The fields are in the same order as in the string form. */
export function describe(): Description {
  return describeFixedFormat(
    [
      ["timestamp", "timestamp", 48],
      ["version", "constant", 4],
      ["sequence_high", "sequence", 12],
      ["variant", "constant", 2],
      ["sequence_low", "sequence", 6],
      ["random", "random", 56],
    ],
    {
      perSecond: 262_144_000n,
      perSecondInAll: 17_179_869_184_000n,
      firstMs: 0n,
      lastMs: 281_474_976_710_655n,
      sortsByTime: true,
      below2_53: false,
      below2_63: false,
    },
  );
}
