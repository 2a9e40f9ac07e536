/**
 * Value transformers for TypeORM: each form is one, and TypeORM converts the parameters of `find` with it, too, so
 * `Between(lowest, highest)` takes what `sno.timeRange` gives. Nothing of TypeORM is imported.
 *
 * ```ts
 * import { snoUuid8 } from "polyflake/typeorm";
 *
 * @Entity()
 * class Order {
 *   @PrimaryColumn({ type: "uuid", transformer: snoUuid8 })
 *   id = sno.generate(2);
 * }
 * ```
 *
 * @module
 */
export { type ErrorCode, PolyflakeError } from "../errors.js";
export * from "./forms.js";
