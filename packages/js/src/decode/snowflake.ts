/**
 * Reads snowflakes from well-known services. The layouts of these services are exported as plain objects.
 *
 * @module
 */
import { invalidCharacter, outOfRange, PolyflakeError } from "../errors.js";
import { checkSigned, digit } from "./checks.js";

/**
 * The layout of a service's 64-bit IDs. Every field except `timestamp` becomes a property of the object that {@link
 * parseSnowflake} returns.
 *
 * @typeParam Name The names of all fields except `timestamp`.
 */
export interface SnowflakeFormat<Name extends string> {
  /** The start of tick 0, in Unix milliseconds. */
  readonly epochMs: number;
  /** The length of a tick, in milliseconds. */
  readonly tickMs: number;
  /**
   * The name and the width of each field, starting with the most significant field. A field has 1 to 48 bits, and all fields
   * together have at most 64 bits. Bits above the first field are ignored. The names must be distinct. One of them must be
   * `timestamp`, and `unixMs` is reserved.
   */
  readonly fields: readonly (readonly [name: Name | "timestamp", bits: number])[];
}

/** The fields of a snowflake, and the start of its tick. */
export type Snowflake<Name extends string> = { [N in Name]: number } & {
  /** The start of the tick. */
  timestamp: Date;
  /** The start of the tick, in Unix milliseconds. */
  unixMs: number;
};

/**
 * Twitter (X) IDs: 1 unused bit, a 41-bit timestamp in milliseconds, 5 datacenter bits, 5 worker bits and a 12-bit sequence
 * number.
 */
export const twitter: SnowflakeFormat<"datacenter" | "worker" | "sequence"> = {
  epochMs: 1_288_834_974_657,
  tickMs: 1,
  fields: [
    ["timestamp", 41],
    ["datacenter", 5],
    ["worker", 5],
    ["sequence", 12],
  ],
};

/** Discord IDs: a 42-bit timestamp in milliseconds, 5 worker bits, 5 process bits and a 12-bit sequence number. */
export const discord: SnowflakeFormat<"worker" | "process" | "sequence"> = {
  epochMs: 1_420_070_400_000,
  tickMs: 1,
  fields: [
    ["timestamp", 42],
    ["worker", 5],
    ["process", 5],
    ["sequence", 12],
  ],
};

/** Instagram IDs: a 41-bit timestamp in milliseconds, 13 shard bits and a 10-bit sequence number. */
export const instagram: SnowflakeFormat<"shard" | "sequence"> = {
  epochMs: 1_314_220_021_721,
  tickMs: 1,
  fields: [
    ["timestamp", 41],
    ["shard", 13],
    ["sequence", 10],
  ],
};

/** Sonyflake IDs: 1 unused bit, a 39-bit timestamp in 10 ms units, an 8-bit sequence number and 16 machine bits. */
export const sonyflake: SnowflakeFormat<"sequence" | "machine"> = {
  epochMs: 1_409_529_600_000,
  tickMs: 10,
  fields: [
    ["timestamp", 39],
    ["sequence", 8],
    ["machine", 16],
  ],
};

/** Mastodon IDs: a 48-bit timestamp in Unix milliseconds, and 16 bits that combine a hash and a sequence number. */
export const mastodon: SnowflakeFormat<"sequence_data"> = {
  epochMs: 0,
  tickMs: 1,
  fields: [
    ["timestamp", 48],
    ["sequence_data", 16],
  ],
};

/** IDs from Baidu's UidGenerator: 1 unused bit, a 28-bit timestamp in seconds, 22 worker bits and a 13-bit sequence number. */
export const baidu: SnowflakeFormat<"worker" | "sequence"> = {
  epochMs: 1_463_673_600_000,
  tickMs: 1000,
  fields: [
    ["timestamp", 28],
    ["worker", 22],
    ["sequence", 13],
  ],
};

/**
 * Returns the fields of a snowflake. The snowflake can be a bigint or a decimal string, which is the form that most web APIs
 * use.
 *
 * ```js
 * parseSnowflake("175928847299117063", discord).timestamp; // 2016-04-30T11:18:25.796Z
 * ```
 *
 * @throws {PolyflakeError} `invalid_type` if the ID has the wrong type, such as a number, which may have been rounded;
 * `invalid_character` if the string is not a canonical decimal number; `out_of_range` if the ID does not fit in a signed
 * 64-bit integer, or if a field's width is out of range; `invalid_layout` if the format lacks a property or a `timestamp`
 * field, if two fields have the same name, or if an entry is not a pair of a name and an integer.
 */
export function parseSnowflake<Name extends string>(
  id: bigint | string,
  format: SnowflakeFormat<Name>,
): Snowflake<Name> {
  const bits = checkSigned(typeof id === "string" ? fromDecimal(id) : id, "id");
  const { epochMs, tickMs, fields } = Object(format) as SnowflakeFormat<Name>;
  let below = 0;
  let values = {} as Record<Name | "timestamp", number>;
  for (let k = fields?.length; k-- > 0; ) {
    const { 0: name, 1: width } = Object(fields[k]);
    if (typeof name !== "string" || !Number.isInteger(width)) break;
    const most = Math.min(48, 64 - below);
    if (width < 1 || width > most) throw outOfRange(1, most, width, name);
    values = { [name]: Number(BigInt.asUintN(width, bits >> BigInt(below))), ...values };
    below += width;
  }
  let unixMs = NaN;
  try {
    unixMs = epochMs + values.timestamp * tickMs;
  } catch {} // The calculation throws an error if `epochMs` or `tickMs` is a bigint.
  const found = { ...values, timestamp: new Date(unixMs), unixMs };
  // `found` has too few properties if two fields have the same name, an entry is not a pair, or a field has a reserved
  // name.
  if (Number.isFinite(unixMs) && Object.keys(found).length > fields.length) return found as unknown as Snowflake<Name>;
  throw new PolyflakeError("invalid_layout", "expected epochMs, tickMs, timestamp and distinct names");
}

/** The number of characters in the longest decimal 64-bit integer. */
export const MAX_DIGITS = 20;

/** Converts a canonical decimal string to an integer. */
export function fromDecimal(text: string): bigint {
  const start = text[0] === "-" ? 1 : 0;
  for (let k = start; k < text.length; k++) {
    if (digit(text.charCodeAt(k), 0, 10) < 0) throw invalidCharacter(text, k);
  }
  // Zero must be written as a single digit without a sign.
  if (text.length === start || (text[start] === "0" && text.length > 1)) {
    throw new PolyflakeError("invalid_character", "expected an integer in decimal digits without leading zeros");
  }
  if (text.length > MAX_DIGITS) {
    throw new PolyflakeError("out_of_range", "expected an integer of 64 bits, found a larger one", { field: "id" });
  }
  return BigInt(text);
}
