/**
 * The forms in which database columns store IDs. Each form is an object with two functions: `to` returns the value to store for
 * an ID, and `from` returns the ID for a stored value.
 *
 * The forms can be used as TypeORM value transformers. With Kysely and plain drivers, call `to` and `from` yourself. This
 * module does not import these libraries.
 *
 * ```js
 * import { snoUuid8 } from "polyflake/forms";
 *
 * snoUuid8.from(snoUuid8.to("9afikjv326nct5if")); // 9afikjv326nct5if
 * ```
 *
 * @module
 */
export { type ErrorCode, PolyflakeError } from "../errors.js";
export * from "./columns.js";
export { type PublicType, publicInt64 } from "./public.js";
