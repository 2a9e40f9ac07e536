/**
 * Reads and writes two kinds of JSON: JSON in which the metabyte of an object's sno ID determines the object's type, and
 * JSON with 64-bit integers. The module also reads the JSON representation of `describe()`. It is plain JavaScript, without
 * wasm.
 *
 * @module
 */
export type { Description, FieldDescription } from "./describe.js";
export { type ErrorCode, PolyflakeError } from "./errors.js";
export { type BigintOptions, type WithBigints, withBigints } from "./json/bigints.js";
export { descriptionFromJson } from "./json/figures.js";
export { type ByMetabyte, byMetabyte, type Kind, type Made } from "./json/kinds.js";
