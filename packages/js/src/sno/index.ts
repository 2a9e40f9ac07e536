/**
 * sno: time-sortable 10-byte IDs with a type tag called the metabyte. An encoded ID has 16 characters.
 *
 * ```text
 * 39 timestamp, 4 ms units since 2010 | 1 tick-tock | 8 metabyte | 16 partition | 16 sequence        (big-endian)
 * ```
 *
 * The partition is the worker ID. IDs sort by creation time, both as bytes and as strings.
 *
 * @module
 */

import { init as open } from "#machine/sno";
import type { Init } from "../init.js";

export { type SnoSchema, sno as schema } from "../integrations/schema.js";
export {
  Generator,
  type GeneratorOptions,
  generate,
  generateAsync,
  generateMany,
  generateManyAsync,
  type RestoreOptions,
  type Snapshot,
  type Stats,
  setDefaultGenerator,
} from "./generator.js";
export {
  describe,
  type Fields,
  fromBytes,
  fromParts,
  fromUuid,
  fromUuid8,
  hasMetabyte,
  isValid,
  metabyte,
  type Parts,
  parse,
  SnoArray,
  timeRange,
  toBytes,
  toUuid,
  toUuid8,
  withMetabyte,
  withPartition,
  withSequence,
} from "./ids.js";
export { fromJsonValue, type JsonOptions, toJsonValue } from "./json.js";

/** Loads the wasm module. See {@link Init}. */
export const init: Init = open;
