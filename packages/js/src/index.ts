/**
 * Unique, time-sortable IDs for processes that each have a unique worker ID. Each ID format has its own namespace object.
 *
 * @module
 */

import * as publicIds from "./public/index.js";

export { afterRestore, backend, clockSource, watchRestores } from "./backend.js";
export type { Stall } from "./clock.js";
export type { HotGuidId } from "./decode/hotguid.js";
export type { RandflakeId, RandflakeText } from "./decode/randflake.js";
export type { SnoId } from "./decode/sno.js";
export type { Uuid7Id } from "./decode/uuid7.js";
export type { Description, FieldDescription } from "./describe.js";
export { type ErrorCode, PolyflakeError } from "./errors.js";
export * as hotguid from "./hotguid/index.js";
export type { Init, Source } from "./init.js";
export type { AsyncOptions, Signal } from "./later.js";
export * as layout from "./layout/index.js";
export * as randflake from "./randflake/index.js";
export * as sno from "./sno/index.js";
export * as sparx64 from "./sparx64/index.js";
export * as uuid7 from "./uuid7/index.js";
export { publicIds as public };
