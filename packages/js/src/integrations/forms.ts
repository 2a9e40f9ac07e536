/**
 * The forms in which columns of databases hold IDs: objects with `to` (what is stored for an ID) and `from` (the ID of what was read).
 * They are TypeORM's value transformers as they are, and convert by hand what Kysely and plain drivers store and read. Nothing of
 * those libraries is imported.
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
