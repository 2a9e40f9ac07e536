/**
 * Reads and writes JSON whose objects have different types, chosen by the metabytes of their sno IDs, and JSON with 64-bit
 * integers. Also reads the JSON form of `describe()`. It is plain JavaScript, without wasm.
 *
 * @module
 */
export type { Description, FieldDescription } from "./describe.js";
export { type ErrorCode, PolyflakeError } from "./errors.js";
export { type BigintOptions, type WithBigints, withBigints } from "./json/bigints.js";
export { descriptionFromJson } from "./json/figures.js";
export { type ByMetabyte, byMetabyte, type Kind, type Made } from "./json/kinds.js";
