/**
 * Forms for Prisma, where programs cannot define types of columns: a form's `to` converts IDs for writes and conditions, and
 * {@link fields} shows the IDs in rows. Nothing of Prisma is imported.
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

/** The forms of a model's columns, by the names of their fields. */
// biome-ignore lint/suspicious/noExplicitAny: no wider type fits all functions of one parameter.
type Forms = Readonly<Record<string, Form<any, unknown>>>;

/** Computed fields of a model, for the member `result` of a client's extension. */
export type Fields<F extends Forms> = {
  [K in keyof F]: {
    /** The column that the field is computed from. */
    needs: Record<K, true>;
    /** The ID of the column's value. */
    compute: (row: Record<K, unknown>) => ReturnType<F[K]["from"]>;
  };
};

/**
 * Computed fields that show the IDs in a model's columns, under the columns' names.
 *
 * @throws {PolyflakeError} `invalid_type` for anything but an object.
 */
export function fields<const F extends Forms>(forms: F): Fields<F> {
  if (!isObject(forms)) throw invalidType("object of forms", forms, { field: "forms" });
  const entries = Object.entries(forms).map(([name, form]) => [
    name,
    { needs: { [name]: true }, compute: (row: Record<string, unknown>) => form.from(row[name]) },
  ]);
  return Object.fromEntries(entries) as Fields<F>;
}
