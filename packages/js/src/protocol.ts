/**
 * The numbers and names that Rust also defines, in `bindings-js/src/protocol.rs`. `test/protocol.test.mjs` compares them.
 *
 * A call has no parameters: its arguments and results are in slots of the scratch area. A record names the slots of some arguments
 * or of a result. Slots contain floats, or 64-bit integers where the record says so.
 */

/** The number of slots. */
export const NUMBERS = 72;

/** The number of bytes: 1,024 strings of 16 characters. */
export const BYTES = 16384;

/** The maximum number of IDs that one call converts or generates. */
export const BATCH = 1024;

/** No value. */
export const TAG_NONE = 0;
/** False. */
export const TAG_FALSE = 1;
/** True. */
export const TAG_TRUE = 2;
/** A signed 64-bit integer. */
export const TAG_INTEGER = 3;
/** A 32-bit length, then that number of bytes of UTF-8. */
export const TAG_TEXT = 4;
/** A 32-bit length, then that number of bytes. */
export const TAG_PIECE = 5;
/** Bytes with the big-endian magnitude of an integer above 64 bits. */
export const TAG_WIDE = 6;
/** Bytes with the big-endian magnitude of a negative integer of more than 64 bits. */
export const TAG_WIDE_BELOW = 7;
/** A number that is not an integer. */
export const TAG_FRACTION = 8;
/** A 32-bit count, then that number of values. */
export const TAG_LIST = 9;
/** A 32-bit count, then that many pairs of an untagged string and a value. */
export const TAG_OBJECT = 10;
/** A string with the name of a type that no field accepts. */
export const TAG_OTHER = 11;

/** The object that a call uses or has created. */
export const objectSlots = { handle: 0 } as const;

/**
 * The current time in Unix milliseconds, for calls that generate one ID, because reading the clock from within wasm takes
 * longer.
 */
export const clockSlots = { now: 1 } as const;

/** The length of a piece of a message, in bytes. */
export const messageSlots = { length: 2 } as const;

/** The offset of a piece in its message. */
export const pieceSlots = { offset: 3 } as const;

/** The nanoseconds to sleep before the next step; NaN at the end. */
export const turnSlots = { sleep: 4 } as const;

/** The metabyte of new IDs. */
export const snoOneSlots = { metabyte: 5 } as const;

/** The time of an ID, in Unix milliseconds. */
export const snoAtSlots = { time: 6 } as const;

/** The shard key of new IDs. */
export const hotguidOneSlots = { shardKey: 7 } as const;

/** The number of IDs or blocks of a batch call, and the index of its first one in the whole batch. */
export const manySlots = { count: 8, first: 9 } as const;

/** The new end of a window, in Unix milliseconds. */
export const extensionSlots = { end: 10 } as const;

/** The number of IDs to convert. */
export const textsSlots = { count: 11 } as const;

/** A half-open time range, in Unix milliseconds. */
export const timeRangeSlots = { start: 12, end: 13 } as const;

/** 1 for the string form that SQL Server uses, otherwise 0. */
export const hotguidRangeSlots = { sql: 14 } as const;

/**
 * The options of all generators: a window, in Unix milliseconds; 0 to wait, 1 for an error; the longest wait, in milliseconds; 1 if
 * a generator with an explicit worker ID skips the tick of its first call, otherwise 0.
 */
export const optionsSlots = {
  windowStart: 15,
  windowEnd: 16,
  onExhausted: 17,
  maxWait: 18,
  skipsFirstTick: 60,
} as const;

/** The options of sno. `how` is 0 to create, 1 to restore, 2 to import the original's snapshot; `isLent` is 1 with a lent table. */
export const snoOptionsSlots = {
  how: 19,
  metabyte: 20,
  partition: 21,
  sequenceMin: 22,
  sequenceMax: 23,
  isLent: 24,
} as const;

/** A snapshot of sno, as an argument and as a result. */
export const snoSnapshotSlots = {
  format: 25,
  partitionHigh: 26,
  partitionLow: 27,
  sequenceMin: 28,
  sequenceMax: 29,
  sequence: 30,
  now: 31,
  wallHi: 32,
  wallSafe: 33,
  drifts: 34,
} as const;

/** A grant, as an argument and as a result. */
export const grantSlots = { firstNode: 35, lastNode: 36, start: 37, end: 38 } as const;

/** The length of a secret or key, in bytes. */
export const secretSlots = { length: 39 } as const;

/** The options of Randflake: the last second that is used up. */
export const randflakeOptionsSlots = { resumeAfter: 40 } as const;

/** The ID to inspect, as a 64-bit integer. */
export const inspectedSlots = { id: 41 } as const;

/** The fields of a Randflake, as an argument and as a result. */
export const partsSlots = { timestamp: 42, node: 43, sequence: 44 } as const;

/** The options of Hot Guid: 1 for version 8 UUIDs, otherwise 0. */
export const hotguidOptionsSlots = { uuid8: 45 } as const;

/** The options of layouts: a handle; the length of a message; 1 for layouts without a timestamp; 1 to restore a snapshot. */
export const layoutOptionsSlots = { layout: 46, messageLength: 47, sequenceOnly: 48, restored: 49 } as const;

/** A half-open time range, in Unix milliseconds, after a message. */
export const layoutRangeSlots = { start: 50, end: 51 } as const;

/** 1 for a column of floats, 0 for one of integers. */
export const columnSlots = { isNumber: 52 } as const;

/** The ID to parse, as a 64-bit integer, if the length of the message is NaN. */
export const parsedSlots = { id: 53 } as const;

/** 1 for a layout of integers, 0 for one of bytes. */
export const layoutKindSlots = { isInteger: 54 } as const;

/** A partition, its expected tick and a new tick. */
export const tableSlots = { partition: 55, old: 56, new: 57 } as const;

/** The number of a public ID, which is a 64-bit integer for a type of more than 53 bits, and the width of the type. */
export const publicSlots = { number: 58, bits: 59 } as const;

/** The number of IDs, or of bytes, in a result. */
export const answerSlots = { length: 61 } as const;

/** A new ID that is an integer, as a 64-bit integer; the number of a public ID, as in {@link publicSlots}. */
export const madeSlots = { id: 61 } as const;

/** A generator's partition. */
export const snoPartitionSlots = { partition: 61 } as const;

/** The end of the highest tick of a sealed generator, in Unix milliseconds. */
export const snoSealSlots = { end: 61 } as const;

/** The statistics of a sno generator. */
export const snoStatsSlots = {
  partition: 61,
  sequenceMin: 62,
  sequenceMax: 63,
  sequence: 64,
  len: 65,
  now: 66,
  wallHi: 67,
  wallSafe: 68,
  drifts: 69,
  closed: 70,
} as const;

/** The statistics of a Randflake generator. */
export const randflakeStatsSlots = { lastSecond: 61, len: 62, closed: 63 } as const;

/** The last second in which a closed generator generated IDs. */
export const randflakeCloseSlots = { lastSecond: 61 } as const;

/** The statistics of a Hot Guid generator. `is_drawn` is 1 once it has random bytes. */
export const hotguidStatsSlots = { lastSecond: 61, len: 62, closed: 63, isDrawn: 64 } as const;

/** The result of a table of partitions. */
export const tableAnswerSlots = { number: 61 } as const;

/** An error, whose strings are concatenated in the bytes. */
export const errorSlots = {
  position: 61,
  retryAt: 62,
  written: 63,
  item: 64,
  codeLength: 65,
  fieldLength: 66,
  messageLength: 67,
} as const;

/** The calls that each format has. */
type Verb = "Build" | "Close" | "Fill" | "FillNow" | "Generate" | "OneAsync" | "Stats" | "TryGenerate";

/** The calls of formats whose IDs have a string form. */
type TextVerb = Verb | "FromTexts" | "Texts";

/** The names of all calls that a format has in every backend. Rust lists them, too. */
export type CallName =
  | "release"
  | "turn"
  | "putPiece"
  | "nextPiece"
  | `sno${TextVerb | "ExtendWindow" | "GenerateAt" | "Partition" | "Seal" | "TimeRange"}`
  | `hotguid${TextVerb | "ExtendWindow" | "Provide" | "TimeRange"}`
  | `randflake${TextVerb | "CodecBuild" | "Encrypt" | "ExtendGrant" | "GenerateText" | "Grant" | "HeldGrant" | "Inspect"}`
  | `sparx64${"Build" | "Decrypt" | "Encrypt"}`
  | `layout${Verb | "Column" | "Describe" | "Description" | "ExtendWindow" | "GeneratorBuild" | "Pack" | "PackColumns"}`
  | `layout${"Parse" | "PresetBuild" | "TimeRange"}`
  | `public${"Build" | "Decode" | "DecodeMany" | "Encode" | "EncodeMany" | "TypeBuild"}`;

/** The names of the calls of the addon's table. */
export type TableCallName = `partitions${"Entry" | "Next" | "Swap"}`;
