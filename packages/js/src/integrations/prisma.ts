/**
 * Forms for Prisma, which does not support custom column types. A form's `to` function converts IDs for writes and conditions,
 * and {@link fields} converts the stored values in rows to IDs. This module does not import Prisma.
 *
 * ```js
 * import { fields, snoUuid8 } from "polyflake/prisma";
 *
 * const prisma = new PrismaClient({ adapter }).$extends({ result: { order: fields({ id: snoUuid8 }) } });
 * await prisma.order.create({ data: { id: snoUuid8.to(sno.generate(2)) } });
 * const { lowest, highest } = sno.timeRange(start, end);
 * await prisma.order.findMany({ where: { id: { gte: snoUuid8.to(lowest), lte: snoUuid8.to(highest) } } });
 * ```
 *
 * @module
 */
import { isObject } from "../checks.js";
import { invalidType } from "../errors.js";
import type { Form } from "./columns.js";

export { type ErrorCode, PolyflakeError } from "../errors.js";
export * from "./columns.js";
export { type PublicType, publicInt64 } from "./public.js";

/** The forms of a model's columns, by field name. */
// biome-ignore lint/suspicious/noExplicitAny: no other type accepts all functions with one parameter.
type Forms = Readonly<Record<string, Form<any, unknown>>>;

/** A model's computed fields, for the `result` component of a Prisma Client extension. */
export type Fields<F extends Forms> = {
  [K in keyof F]: {
    /** The column that the field is computed from. */
    needs: Record<K, true>;
    /** Returns the ID for the column's value. */
    compute: (row: Record<K, unknown>) => ReturnType<F[K]["from"]>;
  };
};

/**
 * Returns computed fields that replace the values of a model's columns with IDs. The computed fields have the same names as
 * the columns.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is an object.
 */
export function fields<const F extends Forms>(forms: F): Fields<F> {
  if (!isObject(forms)) throw invalidType("object of forms", forms, { field: "forms" });
  const entries = Object.entries(forms).map(([name, form]) => [
    name,
    { needs: { [name]: true }, compute: (row: Record<string, unknown>) => form.from(row[name]) },
  ]);
  return Object.fromEntries(entries) as Fields<F>;
}
