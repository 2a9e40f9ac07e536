/**
 * sno: 10 bytes, 16 characters, a metabyte that tells what the ID is of.
 *
 * ```text
 * 39 timestamp, 4 ms units since 2010 | 1 tick-tock | 8 metabyte | 16 partition | 16 sequence        (big-endian)
 * ```
 *
 * Byte order, text order and time order are one.
 *
 * @module
 */
export {
  Generator,
  type GeneratorOptions,
  generate,
  type RestoreOptions,
  setDefaultGenerator,
  type Snapshot,
  type Stats,
} from "./generator.js";
export {
  describe,
  type Fields,
  fromBytes,
  fromParts,
  fromUuid,
  isValid,
  metabyte,
  parse,
  type Parts,
  SnoArray,
  timeRange,
  toBytes,
  toUuid,
  withMetabyte,
  withPartition,
  withSequence,
} from "./ids.js";
export { fromJsonValue, type JsonOptions, toJsonValue } from "./json.js";
export { Pool } from "./pool.js";
