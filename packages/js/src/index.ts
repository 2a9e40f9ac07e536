/**
 * Coordination-based unique IDs. A family is a module.
 *
 * @module
 */
export { type ErrorCode, PolyflakeError } from "./errors.js";
export * as sno from "./sno/index.js";
