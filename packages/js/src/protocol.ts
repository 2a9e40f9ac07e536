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
declare const record: unique symbol;

/** A slot of a float, in a record. This file alone has any. */
export type NumberSlot<R extends RecordName> = number & { readonly [kind]: "number"; readonly [record]: R };

/** A slot of an integer of 64 bits, in a record. This file alone has any. */
export type IntegerSlot<R extends RecordName> = number & { readonly [kind]: "integer"; readonly [record]: R };

/** Names of records. */
export type RecordName =
  | "clock"
  | "turn"
  | "piece"
  | "object"
  | "message"
  | "snoOne"
  | "hotguidOne"
  | "many"
  | "snoAt"
  | "extension"
  | "answer"
  | "made"
  | "texts"
  | "timeRange"
  | "hotguidRange"
  | "options"
  | "snoOptions"
  | "snoSnapshot"
  | "snoPartition"
  | "snoStats"
  | "grant"
  | "secret"
  | "randflakeOptions"
  | "inspected"
  | "parts"
  | "randflakeStats"
  | "randflakeClose"
  | "hotguidOptions"
  | "hotguidStats"
  | "layoutKind"
  | "layoutOptions"
  | "layoutRange"
  | "column"
  | "parsed"
  | "table"
  | "tableAnswer"
  | "error";

/** The time now, in Unix milliseconds, for calls that make one ID: reading the clock from within wasm takes longer. */
export const clockSlots = {
  now: 29 as NumberSlot<"clock">,
} as const;

/** Nanoseconds to sleep before the next turn, NaN at the end. */
export const turnSlots = {
  sleep: 30 as NumberSlot<"turn">,
} as const;

/** The offset of a piece in its message. */
export const pieceSlots = {
  offset: 31 as NumberSlot<"piece">,
} as const;

/** The object that a call is about or has built. */
export const objectSlots = {
  handle: 0 as NumberSlot<"object">,
} as const;

/** The length of a piece of a message, in bytes. */
export const messageSlots = {
  length: 1 as NumberSlot<"message">,
} as const;

/** The metabyte of new IDs. */
export const snoOneSlots = {
  metabyte: 1 as NumberSlot<"snoOne">,
} as const;

/** The shard key of new IDs. */
export const hotguidOneSlots = {
  shardKey: 1 as NumberSlot<"hotguidOne">,
} as const;

/** Number of IDs or blocks of a batch, and the index of its first one among all. */
export const manySlots = {
  count: 2 as NumberSlot<"many">,
  first: 3 as NumberSlot<"many">,
} as const;

/** The time of an ID, in Unix milliseconds. */
export const snoAtSlots = {
  time: 2 as NumberSlot<"snoAt">,
} as const;

/** The new end of a window, in Unix milliseconds. */
export const extensionSlots = {
  end: 1 as NumberSlot<"extension">,
} as const;

/** Number of IDs, or of bytes, in an answer. */
export const answerSlots = {
  length: 0 as NumberSlot<"answer">,
} as const;

/** A new ID that is an integer. */
export const madeSlots = {
  id: 0 as IntegerSlot<"made">,
} as const;

/** Number of IDs to convert. */
export const textsSlots = {
  count: 0 as NumberSlot<"texts">,
} as const;

/** A half-open time range, in Unix milliseconds. */
export const timeRangeSlots = {
  start: 0 as NumberSlot<"timeRange">,
  end: 1 as NumberSlot<"timeRange">,
} as const;

/** 1 for texts for SQL Server, else 0. */
export const hotguidRangeSlots = {
  sql: 2 as NumberSlot<"hotguidRange">,
} as const;

/** Options of all generators: a window, in Unix milliseconds; 0 to wait, 1 for an error; the longest wait, in milliseconds. */
export const optionsSlots = {
  windowStart: 0 as NumberSlot<"options">,
  windowEnd: 1 as NumberSlot<"options">,
  onExhausted: 2 as NumberSlot<"options">,
  maxWait: 3 as NumberSlot<"options">,
} as const;

/** Options of sno: `how` is 0 to build, 1 to restore, 2 to import the original's; `is_lent` is 1 under a lent table. */
export const snoOptionsSlots = {
  how: 4 as NumberSlot<"snoOptions">,
  metabyte: 5 as NumberSlot<"snoOptions">,
  partition: 6 as NumberSlot<"snoOptions">,
  sequenceMin: 7 as NumberSlot<"snoOptions">,
  sequenceMax: 8 as NumberSlot<"snoOptions">,
  isLent: 9 as NumberSlot<"snoOptions">,
} as const;

/** A snapshot of sno, as argument and as answer. */
export const snoSnapshotSlots = {
  format: 10 as NumberSlot<"snoSnapshot">,
  partitionHigh: 11 as NumberSlot<"snoSnapshot">,
  partitionLow: 12 as NumberSlot<"snoSnapshot">,
  sequenceMin: 13 as NumberSlot<"snoSnapshot">,
  sequenceMax: 14 as NumberSlot<"snoSnapshot">,
  sequence: 15 as NumberSlot<"snoSnapshot">,
  now: 16 as NumberSlot<"snoSnapshot">,
  wallHi: 17 as NumberSlot<"snoSnapshot">,
  wallSafe: 18 as NumberSlot<"snoSnapshot">,
  drifts: 19 as NumberSlot<"snoSnapshot">,
} as const;

/** A generator's partition. */
export const snoPartitionSlots = {
  partition: 0 as NumberSlot<"snoPartition">,
} as const;

/** Figures of a generator of sno. */
export const snoStatsSlots = {
  partition: 0 as NumberSlot<"snoStats">,
  sequenceMin: 1 as NumberSlot<"snoStats">,
  sequenceMax: 2 as NumberSlot<"snoStats">,
  sequence: 3 as NumberSlot<"snoStats">,
  len: 4 as NumberSlot<"snoStats">,
  now: 5 as NumberSlot<"snoStats">,
  wallHi: 6 as NumberSlot<"snoStats">,
  wallSafe: 7 as NumberSlot<"snoStats">,
  drifts: 8 as NumberSlot<"snoStats">,
  closed: 9 as NumberSlot<"snoStats">,
} as const;

/** A grant, as argument and as answer. */
export const grantSlots = {
  firstNode: 4 as NumberSlot<"grant">,
  lastNode: 5 as NumberSlot<"grant">,
  start: 6 as NumberSlot<"grant">,
  end: 7 as NumberSlot<"grant">,
} as const;

/** The length of a secret or key, in bytes. */
export const secretSlots = {
  length: 8 as NumberSlot<"secret">,
} as const;

/** Options of Randflake: the last second that is used up. */
export const randflakeOptionsSlots = {
  resumeAfter: 9 as NumberSlot<"randflakeOptions">,
} as const;

/** The ID to inspect. */
export const inspectedSlots = {
  id: 1 as IntegerSlot<"inspected">,
} as const;

/** The parts of a Randflake, as argument and as answer. */
export const partsSlots = {
  timestamp: 1 as NumberSlot<"parts">,
  node: 2 as NumberSlot<"parts">,
  sequence: 3 as NumberSlot<"parts">,
} as const;

/** Figures of a generator of Randflake. */
export const randflakeStatsSlots = {
  lastSecond: 0 as NumberSlot<"randflakeStats">,
  len: 1 as NumberSlot<"randflakeStats">,
  closed: 2 as NumberSlot<"randflakeStats">,
} as const;

/** The last second in which a closed generator made IDs. */
export const randflakeCloseSlots = {
  lastSecond: 0 as NumberSlot<"randflakeClose">,
} as const;

/** Options of Hot Guid: 1 for UUIDs of version 8, else 0. */
export const hotguidOptionsSlots = {
  uuid8: 4 as NumberSlot<"hotguidOptions">,
} as const;

/** Figures of a generator of Hot Guid; `is_drawn` is 1 once it has random bytes. */
export const hotguidStatsSlots = {
  lastSecond: 0 as NumberSlot<"hotguidStats">,
  len: 1 as NumberSlot<"hotguidStats">,
  closed: 2 as NumberSlot<"hotguidStats">,
  isDrawn: 3 as NumberSlot<"hotguidStats">,
} as const;

/** 1 for a layout of integers, 0 for one of bytes. */
export const layoutKindSlots = {
  isInteger: 1 as NumberSlot<"layoutKind">,
} as const;

/** Options of layouts: a handle; a message's length; 1 for layouts without a timestamp; 1 to restore a snapshot. */
export const layoutOptionsSlots = {
  layout: 4 as NumberSlot<"layoutOptions">,
  messageLength: 5 as NumberSlot<"layoutOptions">,
  sequenceOnly: 6 as NumberSlot<"layoutOptions">,
  restored: 7 as NumberSlot<"layoutOptions">,
} as const;

/** A half-open time range, in Unix milliseconds, after a message. */
export const layoutRangeSlots = {
  start: 2 as NumberSlot<"layoutRange">,
  end: 3 as NumberSlot<"layoutRange">,
} as const;

/** 1 for a column of floats, 0 for one of integers. */
export const columnSlots = {
  isNumber: 4 as NumberSlot<"column">,
} as const;

/** The ID to parse, where the length of the message is NaN. */
export const parsedSlots = {
  id: 2 as IntegerSlot<"parsed">,
} as const;

/** A partition, its expected tick and a new tick. */
export const tableSlots = {
  partition: 0 as NumberSlot<"table">,
  old: 1 as NumberSlot<"table">,
  new: 2 as NumberSlot<"table">,
} as const;

/** The answer of a table of partitions. */
export const tableAnswerSlots = {
  number: 0 as NumberSlot<"tableAnswer">,
} as const;

/** An error: its texts lie one after the other in the bytes. */
export const errorSlots = {
  position: 0 as NumberSlot<"error">,
  retryAt: 1 as NumberSlot<"error">,
  written: 2 as NumberSlot<"error">,
  item: 3 as NumberSlot<"error">,
  codeLength: 4 as NumberSlot<"error">,
  fieldLength: 5 as NumberSlot<"error">,
  messageLength: 6 as NumberSlot<"error">,
} as const;

/** Names of all calls that every machine has. */
export type CallName =
  | "release"
  | "turn"
  | "putPiece"
  | "nextPiece"
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
  | "snoPartition"
  | "snoExtendWindow"
  | "snoStats"
  | "snoClose"
  | "sparx64Build"
  | "randflakeCodecBuild"
  | "sparx64Encrypt"
  | "sparx64Decrypt"
  | "randflakeGrant"
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
  | "randflakeHeldGrant"
  | "randflakeExtendGrant"
  | "randflakeStats"
  | "randflakeClose"
  | "hotguidTexts"
  | "hotguidFromTexts"
  | "hotguidTimeRange"
  | "hotguidBuild"
  | "hotguidProvide"
  | "hotguidClose"
  | "hotguidGenerate"
  | "hotguidTryGenerate"
  | "hotguidOneAsync"
  | "hotguidFill"
  | "hotguidFillNow"
  | "hotguidExtendWindow"
  | "hotguidStats"
  | "layoutBuild"
  | "layoutPresetBuild"
  | "layoutDescription"
  | "layoutDescribe"
  | "layoutStats"
  | "layoutClose"
  | "layoutPack"
  | "layoutGenerate"
  | "layoutTryGenerate"
  | "layoutParse"
  | "layoutTimeRange"
  | "layoutColumn"
  | "layoutPackColumns"
  | "layoutFill"
  | "layoutFillNow"
  | "layoutGeneratorBuild"
  | "layoutOneAsync"
  | "layoutExtendWindow";

/** Names of the calls of the addon's table of partitions. */
export type TableCallName = Exclude<keyof Takes, CallName>;

/** The records that each call reads. */
export interface Takes {
  release: "object";
  turn: "object";
  putPiece: "message" | "piece";
  nextPiece: never;
  snoTexts: "texts";
  snoFromTexts: "texts";
  snoTimeRange: "timeRange";
  snoBuild: "options" | "snoOptions" | "snoSnapshot";
  snoGenerate: "object" | "snoOne" | "clock";
  snoGenerateAt: "object" | "snoOne" | "snoAt";
  snoTryGenerate: "object" | "snoOne";
  snoOneAsync: "object" | "snoOne";
  snoFill: "object" | "snoOne" | "many";
  snoFillNow: "object" | "snoOne" | "many";
  snoPartition: "object";
  snoExtendWindow: "object" | "extension";
  snoStats: "object";
  snoClose: "object";
  sparx64Build: "secret";
  randflakeCodecBuild: "secret";
  sparx64Encrypt: "object" | "many";
  sparx64Decrypt: "object" | "many";
  randflakeGrant: "grant";
  randflakeInspect: "object" | "inspected";
  randflakeEncrypt: "object" | "parts";
  randflakeTexts: "texts";
  randflakeFromTexts: "texts";
  randflakeBuild: "options" | "grant" | "secret" | "randflakeOptions";
  randflakeGenerate: "object" | "clock";
  randflakeGenerateText: "object" | "clock";
  randflakeTryGenerate: "object";
  randflakeOneAsync: "object";
  randflakeFill: "object" | "many";
  randflakeFillNow: "object" | "many";
  randflakeHeldGrant: "object";
  randflakeExtendGrant: "object" | "grant";
  randflakeStats: "object";
  randflakeClose: "object";
  hotguidTexts: "texts";
  hotguidFromTexts: "texts";
  hotguidTimeRange: "timeRange" | "hotguidRange";
  hotguidBuild: "options" | "hotguidOptions";
  hotguidProvide: "object";
  hotguidClose: "object";
  hotguidGenerate: "object" | "hotguidOne" | "clock";
  hotguidTryGenerate: "object" | "hotguidOne";
  hotguidOneAsync: "object" | "hotguidOne";
  hotguidFill: "object" | "hotguidOne" | "many";
  hotguidFillNow: "object" | "hotguidOne" | "many";
  hotguidExtendWindow: "object" | "extension";
  hotguidStats: "object";
  layoutBuild: "message" | "piece";
  layoutPresetBuild: "message" | "piece";
  layoutDescription: "object";
  layoutDescribe: "object";
  layoutStats: "object";
  layoutClose: "object";
  layoutPack: "object" | "message" | "piece";
  layoutGenerate: "object" | "message" | "piece";
  layoutTryGenerate: "object" | "message" | "piece";
  layoutParse: "object" | "message" | "piece" | "parsed";
  layoutTimeRange: "object" | "message" | "piece" | "layoutRange";
  layoutColumn: "object" | "message" | "piece" | "many" | "column";
  layoutPackColumns: "object" | "message" | "piece" | "many";
  layoutFill: "object" | "message" | "piece" | "many";
  layoutFillNow: "object" | "message" | "piece" | "many";
  layoutGeneratorBuild: "options" | "layoutOptions" | "piece";
  layoutOneAsync: "object" | "message" | "piece";
  layoutExtendWindow: "object" | "extension";
  partitionsNext: never;
  partitionsUntil: "table";
  partitionsSwap: "table";
}

/** The records that each call writes. */
export interface Gives {
  release: never;
  turn: "turn" | "answer";
  putPiece: never;
  nextPiece: never;
  snoTexts: never;
  snoFromTexts: never;
  snoTimeRange: never;
  snoBuild: "object";
  snoGenerate: never;
  snoGenerateAt: never;
  snoTryGenerate: never;
  snoOneAsync: "object" | "turn";
  snoFill: "answer";
  snoFillNow: "answer";
  snoPartition: "snoPartition";
  snoExtendWindow: never;
  snoStats: "snoStats";
  snoClose: "snoSnapshot";
  sparx64Build: "object";
  randflakeCodecBuild: "object";
  sparx64Encrypt: never;
  sparx64Decrypt: never;
  randflakeGrant: never;
  randflakeInspect: "parts";
  randflakeEncrypt: "made";
  randflakeTexts: never;
  randflakeFromTexts: never;
  randflakeBuild: "object";
  randflakeGenerate: "made";
  randflakeGenerateText: "answer";
  randflakeTryGenerate: "made";
  randflakeOneAsync: "object" | "turn";
  randflakeFill: "answer";
  randflakeFillNow: "answer";
  randflakeHeldGrant: "grant";
  randflakeExtendGrant: never;
  randflakeStats: "randflakeStats";
  randflakeClose: "randflakeClose";
  hotguidTexts: never;
  hotguidFromTexts: never;
  hotguidTimeRange: never;
  hotguidBuild: "object";
  hotguidProvide: never;
  hotguidClose: never;
  hotguidGenerate: never;
  hotguidTryGenerate: never;
  hotguidOneAsync: "object" | "turn";
  hotguidFill: "answer";
  hotguidFillNow: "answer";
  hotguidExtendWindow: never;
  hotguidStats: "hotguidStats";
  layoutBuild: "object" | "layoutKind";
  layoutPresetBuild: "object" | "layoutKind";
  layoutDescription: "answer";
  layoutDescribe: "answer";
  layoutStats: "answer";
  layoutClose: "answer";
  layoutPack: "made" | "answer";
  layoutGenerate: "made" | "answer";
  layoutTryGenerate: "made" | "answer";
  layoutParse: "answer";
  layoutTimeRange: "answer";
  layoutColumn: never;
  layoutPackColumns: "answer";
  layoutFill: "answer";
  layoutFillNow: "answer";
  layoutGeneratorBuild: "object";
  layoutOneAsync: "object" | "turn" | "answer";
  layoutExtendWindow: never;
  partitionsNext: "tableAnswer";
  partitionsUntil: "tableAnswer";
  partitionsSwap: "tableAnswer";
}
