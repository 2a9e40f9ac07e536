/**
 * Randflake: 64-bit IDs that look random to those without the secret.
 *
 * ```text
 * raw: 30 timestamp, seconds since 2024-10-27T03:33:20Z | 17 node | 17 sequence
 * id  = SPARX-64/128 of the raw value, a signed integer
 * ```
 *
 * Unpredictable is all that an ID is: it is not authentic and no capability, and its order says nothing of its time. Keep
 * secrets on servers: the memory of a page is readable by all of its scripts.
 *
 * @module
 */
export { Codec } from "./codec.js";
export { Generator, type GeneratorOptions, type Stats } from "./generator.js";
export { decodeText, describe, encodeText, fromUnsigned, type Parts, RandflakeArray, toUnsigned } from "./ids.js";
export { Grant } from "./grant.js";
export { Pool } from "./pool.js";
