/**
 * Reads and writes JSON of several kinds of objects, told apart by the metabytes of their sno IDs, and JSON with integers of 64
 * bits; reads JSON of figures. Plain JavaScript, without wasm.
 *
 * @module
 */
export type { Description, FieldDescription } from "./describe.js";
export { type ErrorCode, PolyflakeError } from "./errors.js";
export { type BigintOptions, type WithBigints, withBigints } from "./json/bigints.js";
export { descriptionFromJson } from "./json/figures.js";
export { type ByMetabyte, byMetabyte, type Kind, type Made } from "./json/kinds.js";
