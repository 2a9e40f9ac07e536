/**
 * Numbers and names that Rust also defines, in `bindings-js/src/protocol.rs`. `test/protocol.test.mjs` compares the two.
 *
 * A call has no parameters: its arguments and results are in slots of the scratch area. A record names the slots for some
 * arguments or for a result. Slots contain floats, or 64-bit integers where the record says so.
 */

/** The number of slots in the scratch area. */
export const NUMBERS = 72;

/** The number of bytes in the scratch area, which is enough for 1,024 strings of 16 characters. */
export const BYTES = 16384;

/** The maximum number of IDs that one call converts or generates. */
export const BATCH = 1024;

/** The tag for a missing value. */
export const TAG_NONE = 0;
/** The tag for false. */
export const TAG_FALSE = 1;
/** The tag for true. */
export const TAG_TRUE = 2;
/** The tag for a signed 64-bit integer. */
export const TAG_INTEGER = 3;
/** The tag for a string: a 32-bit length, followed by that number of UTF-8 bytes. */
export const TAG_TEXT = 4;
/** The tag for bytes: a 32-bit length, followed by that number of bytes. */
export const TAG_PIECE = 5;
/** The tag for a positive integer of more than 64 bits: its big-endian magnitude, as a length and bytes. */
export const TAG_WIDE = 6;
/** The tag for a negative integer of more than 64 bits: its big-endian magnitude, as a length and bytes. */
export const TAG_WIDE_BELOW = 7;
/** The tag for a number that is not an integer. */
export const TAG_FRACTION = 8;
/** The tag for a list: a 32-bit count, followed by that number of values. */
export const TAG_LIST = 9;
/** The tag for an object: a 32-bit count, followed by that number of pairs of an untagged string and a value. */
export const TAG_OBJECT = 10;
/** The tag for a value whose type no field accepts. It is followed by the name of the type, as an untagged string. */
export const TAG_OTHER = 11;

/** The handle of the object that a call uses or has created. */
export const objectSlots = { handle: 0 } as const;

/**
 * The current time, in Unix milliseconds. It is passed to calls that generate one ID, because reading the clock from within
 * wasm is slower.
 */
export const clockSlots = { now: 1 } as const;

/** The length of one piece of a message, in bytes. */
export const messageSlots = { length: 2 } as const;

/** The offset of a piece within its message. */
export const pieceSlots = { offset: 3 } as const;

/** The time to sleep before the next step of an asynchronous call, in nanoseconds; NaN if the call has ended. */
export const turnSlots = { sleep: 4 } as const;

/** The metabyte of new IDs. */
export const snoOneSlots = { metabyte: 5 } as const;

/** The time of an ID, in Unix milliseconds. */
export const snoAtSlots = { time: 6 } as const;

/** The shard key of new IDs. */
export const hotguidOneSlots = { shardKey: 7 } as const;

/** The number of IDs or blocks in one call of a batch, and the index of the first one within the whole batch. */
export const manySlots = { count: 8, first: 9 } as const;

/** The new end of a window, in Unix milliseconds. */
export const extensionSlots = { end: 10 } as const;

/** The number of IDs to convert. */
export const textsSlots = { count: 11 } as const;

/** A half-open time range, in Unix milliseconds. */
export const timeRangeSlots = { start: 12, end: 13 } as const;

/** 1 to use the string form that sorts by time in SQL Server, otherwise 0. */
export const hotguidRangeSlots = { sql: 14 } as const;

/**
 * The options that all generators share. The window and the longest wait are in milliseconds. `onExhausted` is 0 to wait and 1
 * to fail. `skipsFirstTick` is 1 if a generator with an explicit worker ID skips the tick of its first call, otherwise 0.
 */
export const optionsSlots = {
  windowStart: 15,
  windowEnd: 16,
  onExhausted: 17,
  maxWait: 18,
  skipsFirstTick: 60,
} as const;

/**
 * The options for a sno generator. `how` is 0 to create a generator, 1 to restore a snapshot and 2 to import a snapshot of the
 * original library. `isLent` is 1 if the backend uses a partition table that it does not own.
 */
export const snoOptionsSlots = {
  how: 19,
  metabyte: 20,
  partition: 21,
  sequenceMin: 22,
  sequenceMax: 23,
  isLent: 24,
} as const;

/** A sno generator's snapshot, as an argument and as a result. */
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

/** The options for a Randflake generator: the last second that is used up. */
export const randflakeOptionsSlots = { resumeAfter: 40 } as const;

/** The ID to inspect, as a 64-bit integer. */
export const inspectedSlots = { id: 41 } as const;

/** The fields of a Randflake, as an argument and as a result. */
export const partsSlots = { timestamp: 42, node: 43, sequence: 44 } as const;

/** The options for a Hot Guid generator. `uuid8` is 1 to generate version 8 UUIDs, otherwise 0. */
export const hotguidOptionsSlots = { uuid8: 45 } as const;

/**
 * The options for a layout generator: the layout's handle, the length of the message, 1 to allow a layout without a timestamp,
 * and 1 to restore a snapshot.
 */
export const layoutOptionsSlots = { layout: 46, messageLength: 47, sequenceOnly: 48, restored: 49 } as const;

/** A half-open time range, in Unix milliseconds, for a call that also has a message. */
export const layoutRangeSlots = { start: 50, end: 51 } as const;

/** Whether a column contains floats (1) or integers (0). */
export const columnSlots = { isNumber: 52 } as const;

/** The ID to parse, as a 64-bit integer. It is used if the length of the message is NaN. */
export const parsedSlots = { id: 53 } as const;

/** Whether a layout's IDs are integers (1) or bytes (0). */
export const layoutKindSlots = { isInteger: 54 } as const;

/** A partition, the tick that its entry is expected to contain, and the new tick. */
export const tableSlots = { partition: 55, old: 56, new: 57 } as const;

/**
 * The number that a public ID represents, and the width of its type in bits. For a type of more than 53 bits, the number is a
 * 64-bit integer.
 */
export const publicSlots = { number: 58, bits: 59 } as const;

/** The generator that a call compares with the one in {@link objectSlots}. */
export const otherSlots = { handle: 61 } as const;

/** The number of IDs or bytes in a result. */
export const answerSlots = { length: 62 } as const;

/** A new integer ID, as a 64-bit integer, or the number that a public ID represents, as in {@link publicSlots}. */
export const madeSlots = { id: 62 } as const;

/** A generator's partition. */
export const snoPartitionSlots = { partition: 62 } as const;

/** 1 if two generators can generate the same ID, otherwise 0. */
export const conflictSlots = { exists: 62 } as const;

/** The end of the highest tick that a sealed generator used, in Unix milliseconds. */
export const sealSlots = { end: 62 } as const;

/** A sno generator's statistics. */
export const snoStatsSlots = {
  partition: 62,
  sequenceMin: 63,
  sequenceMax: 64,
  sequence: 65,
  len: 66,
  now: 67,
  wallHi: 68,
  wallSafe: 69,
  drifts: 70,
  closed: 71,
} as const;

/** A Randflake generator's statistics. */
export const randflakeStatsSlots = { lastSecond: 62, len: 63, closed: 64 } as const;

/** The last second in which a closed generator generated IDs. */
export const randflakeCloseSlots = { lastSecond: 62 } as const;

/** A Hot Guid generator's statistics. `isDrawn` is 1 once the generator has picked its random bytes. */
export const hotguidStatsSlots = { lastSecond: 62, len: 63, closed: 64, isDrawn: 65 } as const;

/** The result of a call to a partition table. */
export const tableAnswerSlots = { number: 62 } as const;

/** An error. Its strings are concatenated in the scratch area's bytes. */
export const errorSlots = {
  position: 62,
  retryAt: 63,
  written: 64,
  item: 65,
  codeLength: 66,
  fieldLength: 67,
  messageLength: 68,
  ofGrant: 69,
} as const;

/** The calls that every format has. */
type Verb = "Build" | "Close" | "Fill" | "FillNow" | "Generate" | "OneAsync" | "Stats" | "TryGenerate";

/** The calls of a format whose IDs have a string form. */
type TextVerb = Verb | "FromTexts" | "Texts";

/** The names of all calls that exist in every backend. Rust lists them, too. */
export type CallName =
  | "afterRestore"
  | "release"
  | "turn"
  | "putPiece"
  | "nextPiece"
  | "extend"
  | "mayRepeat"
  | "seal"
  | `sno${TextVerb | "GenerateAt" | "Partition" | "TimeRange"}`
  | `hotguid${TextVerb | "Provide" | "TimeRange"}`
  | `randflake${TextVerb | "CodecBuild" | "Encrypt" | "ExtendGrant" | "GenerateText" | "Grant" | "HeldGrant" | "Inspect"}`
  | `sparx64${"Build" | "Decrypt" | "Encrypt"}`
  | `layout${Verb | "Column" | "Describe" | "Description" | "GeneratorBuild" | "Pack" | "PackColumns"}`
  | `layout${"Parse" | "PresetBuild" | "TimeRange"}`
  | `public${"Build" | "Decode" | "DecodeMany" | "Encode" | "EncodeMany" | "TypeBuild"}`;

/** The names of the addon's calls for its partition table. */
export type TableCallName = `partitions${"Entry" | "Next" | "Swap"}`;
