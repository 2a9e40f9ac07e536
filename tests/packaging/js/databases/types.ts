// The types of IDs in columns, as a user's compiler sees them.
import { between, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { pgTable } from "drizzle-orm/pg-core";
import { sqliteTable } from "drizzle-orm/sqlite-core";
import type { Kysely } from "kysely";
import { type HotGuidId, type SnoId, sno } from "polyflake";
import { pg, sqlite } from "polyflake/drizzle";
import { hotguidSql, int64, randflakeInt64, snoUuid8 } from "polyflake/forms";
import { fields, snoBytes } from "polyflake/prisma";
import type { ColumnOptions, ValueTransformer } from "typeorm";
import { type Database, between as inSpan } from "./kysely.js";

/** Compiles only if the two types are equal. */
const assertSame =
  <A>() =>
  <B>(_: (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? "same" : "different"): void => {};

const { lowest, highest } = sno.timeRange(0, 1);
type OrderId = SnoId<2>;

const orders = pgTable("orders", {
  id: pg
    .snoUuid8()
    .$type<OrderId>()
    .primaryKey()
    .$defaultFn(() => sno.generate(2)),
  parent: pg.snoText(),
  key: pg.hotguidText("guid").notNull(),
  flake: pg.int64(),
});
assertSame<{ id: OrderId; parent: SnoId | null; key: HotGuidId; flake: bigint | null }>()<typeof orders.$inferSelect>(
  "same",
);
export const rows = drizzle({ connection: {} })
  .select()
  .from(orders)
  .where(between(orders.parent, lowest, highest));
export const lines = pgTable("lines", { order: pg.snoUuid8().references(() => orders.id) });
export const keptTable = sqliteTable("kept", { id: sqlite.snoBytes("id"), flake: sqlite.randflakeInt64() });
// @ts-expect-error: a column of 64-bit integers accepts no numbers
eq(orders.flake, 7);
// @ts-expect-error: a string is not an ID until a function checks it
eq(orders.parent, "a7rdmuv326nct5if");
// @ts-expect-error: PostgreSQL does not have MySQL's columns
pg.hotguidBytes;

export const findOrders = async (db: Kysely<Database>) => {
  await db
    .insertInto("orders")
    .values({ id: snoUuid8.to(lowest), flake: int64.to(7n) })
    .execute();
  // @ts-expect-error: the column accepts no numbers
  db.selectFrom("orders").where("id", "=", 7);
  const orders = await inSpan(db, new Date(0), new Date(1));
  assertSame<{ id: SnoId; flake: bigint }[]>()<typeof orders>("same");
};

const transformers: ValueTransformer[] = [hotguidSql, randflakeInt64];
export const column: ColumnOptions = { type: "uuid", transformer: transformers[0]! };

assertSame<SnoId>()<ReturnType<ReturnType<typeof exampleFields>["id"]["compute"]>>("same");
export const exampleFields = () => fields({ id: snoBytes });
type Bytes = Uint8Array<ArrayBuffer>;
assertSame<[Bytes, Bytes | null, bigint]>()<ReturnType<typeof toStored>>("same");
const toStored = (id: SnoId, other: SnoId | null): [Bytes, Bytes | null, bigint] => [
  snoBytes.to(id),
  snoBytes.to(other),
  int64.to(7n),
];
