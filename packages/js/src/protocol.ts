/**
 * Numbers and names that are also defined in the Rust file `crates/bindings-js/src/protocol.rs`. `test/protocol.test.mjs` compares
 * the definitions.
 *
 * A call has no parameters: its arguments and results are in registers of the scratch area, or in its bytes. Registers
 * contain floats, unless the documentation of the call in the Rust code specifies 64-bit integers.
 */

/** The number of registers in the scratch area. */
export const NUMBERS = 42;

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
export const TAG_NEGATIVE_WIDE = 7;
/** The tag for a number that is not an integer. */
export const TAG_FRACTION = 8;
/** The tag for a list: a 32-bit count, followed by that number of values. */
export const TAG_LIST = 9;
/** The tag for an object: a 32-bit count, followed by that number of pairs of an untagged string and a value. */
export const TAG_OBJECT = 10;
/** The tag for a value whose type no field accepts. It is followed by the name of the type, as an untagged string. */
export const TAG_OTHER = 11;

/** The tag for a 64-bit float. */
export const TAG_NUMBER = 12;

/**
 * The registers. Arguments and results that have no register of their own are in a fixed order. Such arguments start at
 * `value`, and such results start at `answer`.
 */
export const register = {
  /** The handle of the object that a call uses or has created. */
  handle: 0,
  /**
   * The current time, in Unix milliseconds. It is passed to calls that generate one ID, because reading the clock from within
   * wasm is slower.
   */
  now: 1,
  /** The length of one piece of a message, in bytes. */
  length: 2,
  /** The offset of a piece within its message. */
  offset: 3,
  /** The time to sleep before the next step of an asynchronous call, in nanoseconds; NaN if the call has ended. */
  sleep: 4,
  /** The metabyte or the shard key of new IDs. */
  parameter: 5,
  /** The number of IDs, blocks, strings, secrets or bytes that a call reads or generates. */
  count: 6,
  /** The index of a call's first ID within the whole batch. */
  first: 7,
  /** The first argument. In a call that creates a generator, the options that all formats share start here. */
  value: 8,
  /** The first option that is specific to the ID format, in a call that creates a generator. */
  own: 13,
  /** The first number of a result or of an error. */
  answer: 32,
} as const;

/** The names of all calls except the addon's calls for its partition table. The Rust code contains the same list. */
export type CallName =
  | "afterRestore"
  | "release"
  | "turn"
  | "putPiece"
  | "nextPiece"
  | `generator${"Close" | "Extend" | "Fill" | "GenerateAsync" | "IsUsable" | "MayRepeat" | "Seal" | "Stats" | "TryFill" | "TryGenerate"}`
  | `sno${"Build" | "FromTexts" | "Generate" | "GenerateAt" | "Partition" | "Texts" | "TimeRange"}`
  | `hotguid${"Build" | "FromTexts" | "Generate" | "Provide" | "Texts" | "TimeRange"}`
  | `randflake${"Build" | "CodecBuild" | "Encrypt" | "ExtendGrant" | "FromTexts" | "Generate" | "GenerateText" | "Grant"}`
  | `randflake${"HeldGrant" | "Inspect" | "Texts"}`
  | `sparx64${"Build" | "Decrypt" | "Encrypt"}`
  | `layout${"Build" | "Column" | "Describe" | "Description" | "Generate" | "GeneratorBuild" | "Pack" | "PackColumns"}`
  | `layout${"Parse" | "PresetBuild" | "TimeRange"}`
  | `uuid7${"Build" | "FromTexts" | "Generate" | "GenerateAt" | "Texts" | "TimeRange"}`
  | `public${"Build" | "Decode" | "DecodeMany" | "Encode" | "EncodeMany" | "TypeBuild"}`;

/** The names of the addon's calls for its partition table. */
export type TableCallName = `partitions${"Entry" | "Next" | "Swap"}`;
