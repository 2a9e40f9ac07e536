/**
 * Randflake: 64-bit IDs that look random without the secret.
 *
 * ```text
 * raw: 30 timestamp, seconds since 2024-10-27T03:33:20Z | 17 node | 17 sequence
 * id  = SPARX-64/128 of the raw value, a signed integer
 * ```
 *
 * An ID is unpredictable and nothing more: it proves no authenticity, is no capability, and its order is unrelated to its time.
 * Keep secrets on servers: all scripts of a page can read its memory.
 *
 * @module
 */

import { init as open } from "#machine/randflake";
import type { Init } from "../init.js";

export { randflake as schema } from "../integrations/schema.js";
export { Codec, type PartsColumns } from "./codec.js";
export { Generator, type GeneratorOptions, type Stats } from "./generator.js";
export { Grant } from "./grant.js";
export { decodeText, describe, encodeText, fromUnsigned, type Parts, RandflakeArray, toUnsigned } from "./ids.js";

/** See {@link Init}. */
export const init: Init = open;
