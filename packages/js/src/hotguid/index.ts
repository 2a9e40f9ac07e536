/**
 * Hot Guid: GUIDs that sort by time and contain a shard key. IDs are lower-case strings.
 *
 * ```text
 * 32 Unix seconds | 40 machine | 24 counter | 32 shard key, its bytes reversed        (in the order of the string form)
 * ```
 *
 * The machine bits are the worker ID and are random by default.
 *
 * @module
 */

import { init as open } from "#machine/hotguid";
import type { Init } from "../init.js";

export { hotguid as schema } from "../integrations/schema.js";
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
  fromDotnetBytes,
  fromParts,
  fromSql,
  fromUuid8Parts,
  HotGuidArray,
  isValid,
  type Parts,
  parse,
  parts,
  shardKey,
  timeRange,
  timestamp,
  toBytes,
  toDotnetBytes,
  toSql,
  type Uuid8Parts,
  uuid8Parts,
} from "./ids.js";

/** Loads the wasm module. See {@link Init}. */
export const init: Init = open;
