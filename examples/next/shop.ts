// Stores people and their orders. The metabyte of an ID identifies the type of the object.
import { between } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { pgTable, text } from "drizzle-orm/pg-core";
import { type SnoId, sno } from "polyflake";
import { pg } from "polyflake/drizzle";
import { z } from "zod";

const [PERSON, ORDER] = [1, 2] as const;

const createIdSchema = <M extends number>(metabyte: M, of: string) =>
  z.custom<SnoId<M>>((id) => sno.isValid(id) && sno.metabyte(id) === metabyte, `expected the ID of ${of}`);
export const personIdSchema = createIdSchema(PERSON, "a person");
export const orderIdSchema = createIdSchema(ORDER, "an order");

const idColumn = () => pg.snoUuid8().primaryKey();
const buyer = pg.snoUuid8().notNull();
export const people = pgTable("people", {
  id: idColumn().$defaultFn(() => sno.generate(PERSON)),
  name: text().notNull(),
});
export const orders = pgTable("orders", {
  id: idColumn().$defaultFn(() => sno.generate(ORDER)),
  buyer: buyer.references(() => people.id),
  item: text().notNull(),
});

export const db = drizzle(process.env.DATABASE_URL ?? "");

export function findOrders(start: Date | number, end: Date | number) {
  const { lowest, highest } = sno.timeRange(start, end);
  const made = between(orders.id, lowest, highest);
  return db.select().from(orders).where(made).orderBy(orders.id);
}

export async function reply<T>(schema: z.ZodType<T>, value: unknown, use: (value: T) => Promise<unknown>) {
  const read = schema.safeParse(value);
  if (!read.success) return Response.json(read.error.issues, { status: 400 });
  const found = await use(read.data);
  return found ? Response.json(found) : new Response(null, { status: 404 });
}
