/**
 * Version 7 UUIDs (RFC 9562) that stay sorted within a millisecond, across batches, and when the clock moves backwards. IDs
 * are lower-case strings.
 *
 * ```text
 * 48 Unix milliseconds | 4 version 7 | 12 sequence | 2 variant 10 | 6 sequence | 56 random
 * ```
 *
 * With an explicit worker ID or a lease, the first 16 of the random bits are the worker ID.
 *
 * @module
 */

import { init as open } from "#machine/uuid7";
import type { Init } from "../init.js";

export { uuid7 as schema } from "../integrations/schema.js";
export {
  Generator,
  type GeneratorOptions,
  generate,
  generateAsync,
  generateMany,
  generateManyAsync,
  type Stats,
  setDefaultGenerator,
} from "./generator.js";
export {
  describe,
  fromBytes,
  fromParts,
  generateAt,
  isValid,
  type Parts,
  parse,
  parts,
  timeRange,
  toBytes,
  Uuid7Array,
  unixMs,
  workerId,
} from "./ids.js";

/** Loads the wasm module. See {@link Init}. */
export const init: Init = open;
