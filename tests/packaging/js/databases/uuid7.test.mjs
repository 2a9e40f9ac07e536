// Version 7 UUIDs need no column type from this package, because the libraries' own UUID columns store them in order.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asc, between } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { pgTable, uuid } from "drizzle-orm/pg-core";
import { Kysely, PostgresDialect } from "kysely";
import postgres from "pg";
import { uuid7 } from "polyflake";
import { Between, DataSource, EntitySchema } from "typeorm";
import { createDatabase } from "./postgres.mjs";

const HOUR = 3_600_000;
const NOW = Date.now();

/** One ID per hour, in order. */
const IDS = Array.from({ length: 20 }, (_, hour) => uuid7.timeRange(NOW + hour * HOUR, NOW + (hour + 1) * HOUR).lowest);
const { lowest, highest } = uuid7.timeRange(NOW + 5 * HOUR, NOW + 10 * HOUR);

const server = await createDatabase("uuid7");
const options = { skip: !server };

test("Drizzle's uuid columns store version 7 UUIDs in order", options, async () => {
  const pool = new postgres.Pool(server);
  await pool.query("CREATE TABLE drizzle (id uuid PRIMARY KEY)");
  const table = pgTable("drizzle", {
    id: uuid()
      .primaryKey()
      .$defaultFn(() => uuid7.generate()),
  });
  const db = drizzle(pool);
  await db.insert(table).values(IDS.toReversed().map((id) => ({ id })));
  const rows = db.select().from(table).orderBy(asc(table.id));
  assert.deepEqual(
    (await rows).map(({ id }) => id),
    IDS,
  );
  const found = await db
    .select()
    .from(table)
    .where(between(table.id, lowest, highest))
    .orderBy(asc(table.id));
  assert.deepEqual(
    found.map(({ id }) => id),
    IDS.slice(5, 10),
  );
  const [first] = await db.insert(table).values({}).returning();
  assert.equal(uuid7.isValid(first.id), true);
  await pool.end();
});

test("Kysely selects version 7 UUIDs by time", options, async () => {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new postgres.Pool(server) }) });
  await db.schema
    .createTable("kysely")
    .addColumn("id", "uuid", (column) => column.primaryKey())
    .execute();
  await db
    .insertInto("kysely")
    .values(IDS.toReversed().map((id) => ({ id })))
    .execute();
  const rows = db.selectFrom("kysely").select("id").orderBy("id");
  const found = await rows.where("id", ">=", lowest).where("id", "<=", highest).execute();
  assert.deepEqual(
    found.map(({ id }) => id),
    IDS.slice(5, 10),
  );
  await db.destroy();
});

test("TypeORM's uuid columns store version 7 UUIDs in order", options, async () => {
  const entity = new EntitySchema({ name: "typeorm", columns: { id: { type: "uuid", primary: true } } });
  const { host, user: username, database: name } = server;
  const connection = { host, username, database: name };
  const source = new DataSource({ type: "postgres", ...connection, entities: [entity], synchronize: true });
  await source.initialize();
  const repository = source.getRepository("typeorm");
  await repository.insert(IDS.toReversed().map((id) => ({ id })));
  const found = await repository.find({ where: { id: Between(lowest, highest) }, order: { id: "ASC" } });
  assert.deepEqual(
    found.map(({ id }) => id),
    IDS.slice(5, 10),
  );
  await source.destroy();
});
