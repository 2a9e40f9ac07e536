// Written by `cargo xtask generate` from `packages/protocol.toml`.

/** Number of slots. Each holds a float, or an integer of 64 bits. */
export const NUMBERS = 32;

/** Number of bytes: 1,024 texts of 16 characters. */
export const BYTES = 16384;

/** Most IDs that one call converts or makes. */
export const BATCH = 1024;

/** Slot with the time at a call that makes one ID, in Unix milliseconds, for machines that are given it. */
export const NOW = 29;

/** Slot with the time to sleep before a call's next turn, in nanoseconds; NaN once the call is done. */
export const SLEEP = 30;

/** Slot with the offset of a piece in its message. */
export const OFFSET = 31;

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

/** The slots of an error; NaN stands for a missing value. */
export const errorSlots = (numbers: Float64Array) => ({
  position: numbers[0]!,
  retryAt: numbers[1]!,
  written: numbers[2]!,
  item: numbers[3]!,
  codeLength: numbers[4]!,
  fieldLength: numbers[5]!,
  messageLength: numbers[6]!,
});

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
