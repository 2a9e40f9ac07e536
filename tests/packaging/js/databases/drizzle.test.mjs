// Tests Drizzle's columns in PostgreSQL and SQLite, and the conversion of values for MySQL in both directions.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createClient } from "@libsql/client";
import { asc, between, eq, inArray, isNull, relations, sql } from "drizzle-orm";
import { drizzle as onLibsql } from "drizzle-orm/libsql";
import { mysqlTable } from "drizzle-orm/mysql-core";
import { drizzle as onMysql } from "drizzle-orm/mysql-proxy";
import { drizzle as onPostgres } from "drizzle-orm/node-postgres";
import { pgTable, text } from "drizzle-orm/pg-core";
import { sqliteTable, text as sqliteText } from "drizzle-orm/sqlite-core";
import postgres from "pg";
import { mysql, pg, sqlite } from "polyflake/drizzle";
import { columnsOf, GUIDS, INTEGERS, SAMPLES, SNOS } from "./ids.mjs";
import { createDatabase } from "./postgres.mjs";

/** Returns the package's error in a chain of causes. */
function findPackageError(error) {
  return error.name === "PolyflakeError" ? error : findPackageError(error.cause);
}

/** Creates a table that is named after an ID form and whose `id` column stores IDs in that form. */
async function createTable(execute, table, form) {
  await execute(`DROP TABLE IF EXISTS ${form}`);
  await execute(`CREATE TABLE ${form} (place text PRIMARY KEY, id ${table.id.getSQLType()} UNIQUE)`);
}

async function check(db, table, { ids, span }) {
  const rows = ids.map((id, place) => ({ place: `${place}`, id }));
  await db.insert(table).values([...rows.toReversed(), { place: "none", id: null }]);
  const found = (query) => query.orderBy(asc(table.id)).then((rows) => rows.map(({ id }) => id));
  const selected = () => db.select({ id: table.id }).from(table);
  assert.deepEqual(
    (await found(selected())).filter((id) => id !== null),
    ids,
  );
  assert.deepEqual(await db.select().from(table).where(isNull(table.id)), [{ place: "none", id: null }]);
  assert.deepEqual(await found(selected().where(inArray(table.id, [ids[4], ids[3]]))), ids.slice(3, 5));
  if (span)
    assert.deepEqual(await found(selected().where(between(table.id, span.lowest, span.highest))), ids.slice(5, 10));
  const [moved] = await db.update(table).set({ id: null }).where(eq(table.id, ids[2])).returning();
  assert.deepEqual(moved, { place: "2", id: null });
  for (const wrong of ["short!", 7, {}])
    await assert.rejects(
      async () => db.select().from(table).where(eq(table.id, wrong)),
      (error) => /^(invalid_(type|length|character)|type_mismatch)$/.test(findPackageError(error).code),
    );
}

const server = await createDatabase("drizzle");

describe("PostgreSQL", { skip: !server }, () => {
  const pool = new postgres.Pool(server);
  const db = onPostgres(pool);
  const execute = (query) => pool.query(query);
  for (const [form, column] of columnsOf(pg))
    test(form, async () => {
      const table = pgTable(form.toLowerCase(), { place: text("place").primaryKey(), id: column("id") });
      await createTable(execute, table, form);
      await check(db, table, SAMPLES[form]);
    });

  test("columns without a name and rows in JSON are supported", async () => {
    const people = pgTable("people", { id: pg.snoText().primaryKey() });
    const orders = pgTable("orders", { id: pg.snoBytes().primaryKey(), buyer: pg.snoText(), key: pg.hotguidText() });
    const schema = {
      people,
      orders,
      ofPeople: relations(people, ({ many }) => ({ orders: many(orders) })),
      ofOrders: relations(orders, ({ one }) => ({
        person: one(people, { fields: [orders.buyer], references: [people.id] }),
      })),
    };
    await pool.query('CREATE TABLE people (id varchar(16) COLLATE "C" PRIMARY KEY)');
    await pool.query("CREATE TABLE orders (id bytea PRIMARY KEY, buyer varchar(16), key uuid)");
    const related = onPostgres(pool, { schema });
    await related.insert(people).values({ id: SNOS[0] });
    await related.insert(orders).values({ id: SNOS[1], buyer: SNOS[0], key: GUIDS[0] });
    const found = await related.query.people.findMany({ with: { orders: true } });
    assert.deepEqual(found, [{ id: SNOS[0], orders: [{ id: SNOS[1], buyer: SNOS[0], key: GUIDS[0] }] }]);
  });

  test("64-bit integers in JSON rows are rejected if rounded, and read as strings", async () => {
    const owners = pgTable("owners", { id: pg.int64().primaryKey() });
    const flakes = pgTable("flakes", { id: pg.int64().primaryKey(), owner: pg.int64() });
    const schema = {
      owners,
      flakes,
      ofOwners: relations(owners, ({ many }) => ({ flakes: many(flakes) })),
      ofFlakes: relations(flakes, ({ one }) => ({
        person: one(owners, { fields: [flakes.owner], references: [owners.id] }),
      })),
    };
    await pool.query("CREATE TABLE owners (id bigint PRIMARY KEY)");
    await pool.query("CREATE TABLE flakes (id bigint PRIMARY KEY, owner bigint)");
    const related = onPostgres(pool, { schema });
    await related.insert(owners).values([{ id: 1n }, { id: 2n }]);
    await related.insert(flakes).values([
      { id: 7n, owner: 1n },
      { id: INTEGERS[4], owner: 2n },
    ]);
    const of = (id, flakes) => related.query.owners.findFirst({ where: eq(owners.id, id), with: { flakes } });
    assert.deepEqual(await of(1n, true), { id: 1n, flakes: [{ id: 7n, owner: 1n }] });
    await assert.rejects(
      () => of(2n, true),
      (error) => findPackageError(error).code === "invalid_type",
    );
    const asText = { columns: { id: false }, extras: { id: sql`${flakes.id}::text`.as("id_text") } };
    const { flakes: found } = await of(2n, asText);
    assert.deepEqual(found, [{ id: `${INTEGERS[4]}`, owner: 2n }]);
  });

  test.after(() => pool.end());
});

describe("SQLite", () => {
  const client = createClient({ url: ":memory:", intMode: "bigint" });
  const db = onLibsql(client);
  for (const [form, column] of columnsOf(sqlite))
    test(form, async () => {
      const table = sqliteTable(form, { place: sqliteText("place").primaryKey(), id: column("id") });
      await createTable((query) => client.execute(query), table, form);
      const sample = SAMPLES[form];
      await check(db, table, sample);
    });

  test("a driver that rounds integers is detected", async () => {
    const rounding = createClient({ url: ":memory:", intMode: "number" });
    const table = sqliteTable("t", { id: sqlite.int64("id") });
    await rounding.execute("CREATE TABLE t (id integer)");
    const db = onLibsql(rounding);
    await db.insert(table).values({ id: 7n });
    assert.deepEqual(await db.select().from(table), [{ id: 7n }]);
    await db.insert(table).values({ id: INTEGERS[4] });
    await assert.rejects(async () => db.select().from(table));
  });
});

test("MySQL columns write and read their values", async () => {
  for (const [form, column] of columnsOf(mysql)) {
    const { ids } = SAMPLES[form];
    const sent = [];
    const db = onMysql(async (_query, parameters) => {
      sent.push(...parameters);
      return { rows: sent.map((value) => [value]) };
    });
    const table = mysqlTable("t", { id: column("id") });
    const found = await db.select().from(table).where(inArray(table.id, ids));
    assert.deepEqual(
      found.map(({ id }) => id),
      ids,
      form,
    );
    assert.deepEqual(
      sent.map((value) => value.constructor),
      ids.map(() => (/Bytes/.test(form) ? Buffer : /64/.test(form) ? BigInt : String)),
    );
    if (/Bytes/.test(form)) assert.deepEqual(sent.toSorted(Buffer.compare), sent);
  }
});
