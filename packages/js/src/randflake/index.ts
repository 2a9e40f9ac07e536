/**
 * Randflake: 64-bit IDs that are indistinguishable from random numbers without the secret.
 *
 * ```text
 * raw: 30 timestamp, seconds since 2024-10-27T03:33:20Z | 17 node | 17 sequence
 * id  = SPARX-64/128 of the raw value, a signed integer
 * ```
 *
 * The node is the worker ID. An ID is unpredictable, but it is not authenticated, does not grant access, and does not sort by
 * time. Keep secrets on servers, because every script on a web page can read the page's memory.
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

/** Loads the wasm module. See {@link Init}. */
export const init: Init = open;
