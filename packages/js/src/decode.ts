/**
 * Reads IDs in plain JavaScript, without wasm: sno IDs, Hot Guids, version 7 UUIDs, encoded Randflakes, and snowflakes from
 * well-known services. `polyflake` exports the same functions under the same names, except that it reads snowflakes with
 * `layout.Layout.preset`.
 *
 * ```js
 * import { discord, hotguid, isValid, parse, parseSnowflake, randflake } from "polyflake/decode";
 *
 * parse("9afikjv326nct5if").metabyte; // 1
 * hotguid.parts("691f29d0-bbaa-ddcc-ee01-0203ffffff7f").counter; // 66051
 * randflake.decodeText("3vgoe12ccb8gh"); // 4594531474933654033n
 * parseSnowflake("175928847299117063", discord).worker; // 1
 * ```
 *
 * @module
 */

export type { HotGuidId } from "./decode/hotguid.js";
export * as hotguid from "./decode/hotguid.js";
export type { RandflakeId, RandflakeText } from "./decode/randflake.js";
export * as randflake from "./decode/randflake.js";
export {
  type Fields,
  fromUuid8,
  hasMetabyte,
  isValid,
  metabyte,
  type Parts,
  parse,
  type SnoId,
  toBytes,
  toUuid,
  toUuid8,
  withMetabyte,
} from "./decode/sno.js";
export {
  baidu,
  discord,
  instagram,
  mastodon,
  parseSnowflake,
  type Snowflake,
  type SnowflakeFormat,
  sonyflake,
  twitter,
} from "./decode/snowflake.js";
export type { Uuid7Id } from "./decode/uuid7.js";
export * as uuid7 from "./decode/uuid7.js";
export { type ErrorCode, PolyflakeError } from "./errors.js";
