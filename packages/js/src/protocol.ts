// Written by `cargo xtask generate` from `packages/protocol.toml`.

/** Number of slots. Each holds a float, or an integer of 64 bits. */
export const NUMBERS = 32;

/** Number of bytes: 1,024 texts of 16 characters. */
export const BYTES = 16384;

/** Most IDs that one call converts or makes. */
export const BATCH = 1024;

/** No value. */
export const TAG_NONE = 0;

/** False. */
export const TAG_FALSE = 1;

/** True. */
export const TAG_TRUE = 2;

/** 64 bits, signed. */
export const TAG_INTEGER = 3;

/** A length of 32 bits, that many bytes of UTF-8. */
export const TAG_TEXT = 4;

/** A length of 32 bits, that many bytes. */
export const TAG_PIECE = 5;

/** As bytes: the big-endian magnitude of an integer past 64 bits. */
export const TAG_WIDE = 6;

/** As bytes: the big-endian magnitude of a negative integer past 64 bits. */
export const TAG_WIDE_BELOW = 7;

/** A number that is no integer. */
export const TAG_FRACTION = 8;

/** A count of 32 bits, that many values. */
export const TAG_LIST = 9;

/** A count of 32 bits, that many texts without a tag, each before its value. */
export const TAG_OBJECT = 10;

/** As a text: the name of a type that no field takes. */
export const TAG_OTHER = 11;

declare const kind: unique symbol;

/** A slot of a float. This file alone has any. */
export type NumberSlot = number & { readonly [kind]: "number" };

/** A slot of an integer of 64 bits. This file alone has any. */
export type IntegerSlot = number & { readonly [kind]: "integer" };

/** The time now, in Unix milliseconds; nanoseconds to sleep before the next turn, NaN at the end; a piece's offset in its message. */
export const fixedSlots = {
  now: 29 as NumberSlot,
  sleep: 30 as NumberSlot,
  offset: 31 as NumberSlot,
} as const;

/** The object that a call is about or has built. */
export const objectSlots = {
  handle: 0 as NumberSlot,
} as const;

/** The length of a piece of a message, in bytes. */
export const messageSlots = {
  length: 1 as NumberSlot,
} as const;

/** The metabyte of new IDs. */
export const snoOneSlots = {
  metabyte: 1 as NumberSlot,
} as const;

/** The shard key of new IDs. */
export const hotguidOneSlots = {
  shardKey: 1 as NumberSlot,
} as const;

/** Number of IDs or blocks of a batch, and the index of its first one among all. */
export const manySlots = {
  count: 2 as NumberSlot,
  first: 3 as NumberSlot,
} as const;

/** The time of an ID, in Unix milliseconds. */
export const snoAtSlots = {
  time: 2 as NumberSlot,
} as const;

/** The new end of a window, in Unix milliseconds. */
export const extensionSlots = {
  end: 1 as NumberSlot,
} as const;

/** Number of IDs, or of bytes, in an answer. */
export const answerSlots = {
  length: 0 as NumberSlot,
} as const;

/** A new ID that is an integer. */
export const madeSlots = {
  id: 0 as IntegerSlot,
} as const;

/** Number of IDs to convert. */
export const textsSlots = {
  count: 0 as NumberSlot,
} as const;

/** A half-open time range, in Unix milliseconds. */
export const timeRangeSlots = {
  start: 0 as NumberSlot,
  end: 1 as NumberSlot,
} as const;

/** 1 for texts for SQL Server, else 0. */
export const hotguidRangeSlots = {
  sql: 2 as NumberSlot,
} as const;

/** Options of all generators: a window, in Unix milliseconds; 0 to wait, 1 for an error; the longest wait, in milliseconds. */
export const optionsSlots = {
  windowStart: 0 as NumberSlot,
  windowEnd: 1 as NumberSlot,
  onExhausted: 2 as NumberSlot,
  maxWait: 3 as NumberSlot,
} as const;

/** Options of sno: `how` is 0 to build, 1 to restore, 2 to import the original's; `is_lent` is 1 under a lent table. */
export const snoOptionsSlots = {
  how: 4 as NumberSlot,
  metabyte: 5 as NumberSlot,
  partition: 6 as NumberSlot,
  sequenceMin: 7 as NumberSlot,
  sequenceMax: 8 as NumberSlot,
  isLent: 9 as NumberSlot,
} as const;

/** A snapshot of sno, as argument and as answer. */
export const snoSnapshotSlots = {
  partitionHigh: 10 as NumberSlot,
  partitionLow: 11 as NumberSlot,
  sequenceMin: 12 as NumberSlot,
  sequenceMax: 13 as NumberSlot,
  sequence: 14 as NumberSlot,
  now: 15 as NumberSlot,
  wallHi: 16 as NumberSlot,
  wallSafe: 17 as NumberSlot,
  drifts: 18 as NumberSlot,
} as const;

/** A generator's partition. */
export const snoPartitionSlots = {
  partition: 0 as NumberSlot,
} as const;

/** Figures of a generator of sno. */
export const snoStatsSlots = {
  partition: 0 as NumberSlot,
  sequenceMin: 1 as NumberSlot,
  sequenceMax: 2 as NumberSlot,
  sequence: 3 as NumberSlot,
  len: 4 as NumberSlot,
  now: 5 as NumberSlot,
  wallHi: 6 as NumberSlot,
  wallSafe: 7 as NumberSlot,
  drifts: 8 as NumberSlot,
  closed: 9 as NumberSlot,
} as const;

/** A grant, as argument and as answer. */
export const grantSlots = {
  firstNode: 4 as NumberSlot,
  lastNode: 5 as NumberSlot,
  start: 6 as NumberSlot,
  end: 7 as NumberSlot,
} as const;

/** The length of a secret or key, in bytes. */
export const secretSlots = {
  length: 8 as NumberSlot,
} as const;

/** Options of Randflake: the last second that is used up. */
export const randflakeOptionsSlots = {
  resumeAfter: 9 as NumberSlot,
} as const;

/** The ID to inspect. */
export const inspectedSlots = {
  id: 1 as IntegerSlot,
} as const;

/** The parts of a Randflake, as argument and as answer. */
export const partsSlots = {
  timestamp: 1 as NumberSlot,
  node: 2 as NumberSlot,
  sequence: 3 as NumberSlot,
} as const;

/** Figures of a generator of Randflake. */
export const randflakeStatsSlots = {
  lastSecond: 0 as NumberSlot,
  len: 1 as NumberSlot,
  closed: 2 as NumberSlot,
} as const;

/** The last second in which a closed generator made IDs. */
export const randflakeCloseSlots = {
  lastSecond: 0 as NumberSlot,
} as const;

/** Options of Hot Guid: 1 for UUIDs of version 8, else 0. */
export const hotguidOptionsSlots = {
  uuid8: 4 as NumberSlot,
} as const;

/** Figures of a generator of Hot Guid; `is_drawn` is 1 once it has random bytes. */
export const hotguidStatsSlots = {
  lastSecond: 0 as NumberSlot,
  len: 1 as NumberSlot,
  closed: 2 as NumberSlot,
  isDrawn: 3 as NumberSlot,
} as const;

/** 1 for a layout of integers, 0 for one of bytes. */
export const layoutKindSlots = {
  isInteger: 1 as NumberSlot,
} as const;

/** Options of layouts: a handle; a message's length; 1 for layouts without a timestamp; 1 to restore a snapshot. */
export const layoutOptionsSlots = {
  layout: 4 as NumberSlot,
  messageLength: 5 as NumberSlot,
  sequenceOnly: 6 as NumberSlot,
  restored: 7 as NumberSlot,
} as const;

/** A half-open time range, in Unix milliseconds, after a message. */
export const layoutRangeSlots = {
  start: 2 as NumberSlot,
  end: 3 as NumberSlot,
} as const;

/** 1 for a column of floats, 0 for one of integers. */
export const columnSlots = {
  isNumber: 4 as NumberSlot,
} as const;

/** The ID to parse, where the length of the message is NaN. */
export const parsedSlots = {
  id: 2 as IntegerSlot,
} as const;

/** A partition, its expected tick and a new tick. */
export const tableSlots = {
  partition: 0 as NumberSlot,
  old: 1 as NumberSlot,
  new: 2 as NumberSlot,
} as const;

/** The answer of a table of partitions. */
export const tableAnswerSlots = {
  number: 0 as NumberSlot,
} as const;

/** An error: its texts lie one after the other in the bytes. */
export const errorSlots = {
  position: 0 as NumberSlot,
  retryAt: 1 as NumberSlot,
  written: 2 as NumberSlot,
  item: 3 as NumberSlot,
  codeLength: 4 as NumberSlot,
  fieldLength: 5 as NumberSlot,
  messageLength: 6 as NumberSlot,
} as const;

/** Names of all calls. */
export type CallName =
  | "release"
  | "putPiece"
  | "nextPiece"
  | "turn"
  | "snoTexts"
  | "snoFromTexts"
  | "snoTimeRange"
  | "snoBuild"
  | "snoGenerate"
  | "snoGenerateAt"
  | "snoTryGenerate"
  | "snoOneAsync"
  | "snoFill"
  | "snoFillNow"
  | "snoPool"
  | "snoPartition"
  | "snoExtendWindow"
  | "snoStats"
  | "snoClose"
  | "sparx64Build"
  | "sparx64Encrypt"
  | "sparx64Decrypt"
  | "randflakeGrant"
  | "randflakeCodecBuild"
  | "randflakeInspect"
  | "randflakeEncrypt"
  | "randflakeTexts"
  | "randflakeFromTexts"
  | "randflakeBuild"
  | "randflakeGenerate"
  | "randflakeGenerateText"
  | "randflakeTryGenerate"
  | "randflakeOneAsync"
  | "randflakeFill"
  | "randflakeFillNow"
  | "randflakePool"
  | "randflakeHeldGrant"
  | "randflakeExtendGrant"
  | "randflakeStats"
  | "randflakeClose"
  | "hotguidTexts"
  | "hotguidFromTexts"
  | "hotguidTimeRange"
  | "hotguidBuild"
  | "hotguidProvide"
  | "hotguidGenerate"
  | "hotguidTryGenerate"
  | "hotguidOneAsync"
  | "hotguidFill"
  | "hotguidFillNow"
  | "hotguidPool"
  | "hotguidExtendWindow"
  | "hotguidStats"
  | "hotguidClose"
  | "layoutBuild"
  | "layoutPresetBuild"
  | "layoutDescription"
  | "layoutDescribe"
  | "layoutPack"
  | "layoutParse"
  | "layoutTimeRange"
  | "layoutColumn"
  | "layoutPackColumns"
  | "layoutGeneratorBuild"
  | "layoutGenerate"
  | "layoutTryGenerate"
  | "layoutOneAsync"
  | "layoutFill"
  | "layoutFillNow"
  | "layoutPool"
  | "layoutExtendWindow"
  | "layoutStats"
  | "layoutClose";
