/**
 * Reads the snowflakes of well-known services: the presets of layouts, as data.
 *
 * @module
 */
import { invalidCharacter, PolyflakeError } from "../errors.js";
import { digit, signed } from "./checks.js";

/**
 * How a service divides the 64 bits of its IDs. Every name but `timestamp` becomes a member of what {@link parseSnowflake} returns.
 *
 * @typeParam Name The names of its fields besides the time.
 */
export interface SnowflakeFormat<Name extends string> {
  /** Tick 0, in Unix milliseconds. */
  readonly epochMs: number;
  /** Milliseconds in a tick. */
  readonly tickMs: number;
  /** Each field's name and number of bits, at most 48, the most significant first. Bits above the first field are ignored. */
  readonly fields: readonly (readonly [name: Name | "timestamp", bits: number])[];
}

/** The fields of a snowflake, and the time of its tick. */
export type Snowflake<Name extends string> = { [N in Name]: number } & {
  /** Start of its tick. */
  timestamp: Date;
  /** Start of its tick, in Unix milliseconds. */
  unixMs: number;
};

/** IDs of Twitter, or X: 1 unused bit, 41 of milliseconds, 5 and 5 of the machine, 12 of sequence. */
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

/** IDs of Discord: 42 bits of milliseconds, 5 and 5 of the machine, 12 of sequence. */
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

/** IDs of Instagram: 41 bits of milliseconds, 13 of the shard, 10 of sequence. */
export const instagram: SnowflakeFormat<"shard" | "sequence"> = {
  epochMs: 1_314_220_021_721,
  tickMs: 1,
  fields: [
    ["timestamp", 41],
    ["shard", 13],
    ["sequence", 10],
  ],
};

/** IDs of Sonyflake: 1 unused bit, 39 of 10 ms, 8 of sequence, 16 of the machine. */
export const sonyflake: SnowflakeFormat<"sequence" | "machine"> = {
  epochMs: 1_409_529_600_000,
  tickMs: 10,
  fields: [
    ["timestamp", 39],
    ["sequence", 8],
    ["machine", 16],
  ],
};

/** IDs of Mastodon: 48 bits of Unix milliseconds, 16 of a hash and a sequence. */
export const mastodon: SnowflakeFormat<"sequence_data"> = {
  epochMs: 0,
  tickMs: 1,
  fields: [
    ["timestamp", 48],
    ["sequence_data", 16],
  ],
};

/** IDs of Baidu's UidGenerator: 1 unused bit, 28 of seconds, 22 of the worker, 13 of sequence. */
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
 * The fields of a snowflake, given as a bigint or as the decimal string that most web APIs send.
 *
 * ```js
 * parseSnowflake("175928847299117063", discord).timestamp; // 2016-04-30T11:18:25.796Z
 * ```
 *
 * @throws {PolyflakeError} `invalid_type` for another value, such as a number, which may have been rounded; `invalid_character` for
 * a string that is not a canonical decimal; `out_of_range` outside signed 64 bits.
 */
export function parseSnowflake<Name extends string>(
  id: bigint | string,
  { epochMs, tickMs, fields }: SnowflakeFormat<Name>,
): Snowflake<Name> {
  const bits = signed(typeof id === "string" ? fromDecimal(id) : id, "id");
  let below = fields.reduce((sum, [, bits]) => sum + bits, 0);
  const values = fields.map(([name, width]) => {
    below -= width;
    return [name, Number(BigInt.asUintN(width, bits >> BigInt(below)))] as const;
  });
  const { timestamp, ...others } = Object.fromEntries(values) as Record<Name | "timestamp", number>;
  const unixMs = epochMs + timestamp * tickMs;
  return { timestamp: new Date(unixMs), unixMs, ...others } as unknown as Snowflake<Name>;
}

/** Characters of the longest decimal of 64 bits. */
export const LONGEST = 20;

/** The integer of a canonical decimal string. */
export function fromDecimal(text: string): bigint {
  const start = text.startsWith("-") ? 1 : 0;
  for (let k = start; k < text.length; k++) {
    if (digit(text.charCodeAt(k), 0, 10) < 0) throw invalidCharacter(text, k);
  }
  // A zero stands alone, and without a sign.
  if (text.length === start || (text[start] === "0" && text.length > 1)) {
    throw new PolyflakeError("invalid_character", "expected an integer in decimal digits without leading zeros");
  }
  if (text.length > LONGEST) {
    throw new PolyflakeError("out_of_range", "expected an integer of 64 bits, found a larger one", { field: "id" });
  }
  return BigInt(text);
}
