// Tests the recipe for Kysely in PostgreSQL and SQLite.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Kysely, PostgresDialect, SqliteDialect, sql } from "kysely";
import Database from "libsql";
import postgres from "pg";
import { int64, snoUuid8 } from "polyflake/forms";
import { INTEGERS, SNOS } from "./ids.mjs";
import { createDatabase } from "./postgres.mjs";
import { recipe, run } from "./recipes.mjs";

const { between } = await run("kysely", recipe("integrations/others.md", "kysely"), ["between"]);
const HOUR = 3_600_000;

async function check(db, types) {
  await sql.raw(`CREATE TABLE orders (id ${types.id} PRIMARY KEY, flake ${types.flake})`).execute(db);
  const flakes = SNOS.map((_, hour) => INTEGERS[hour % INTEGERS.length]);
  const rows = SNOS.map((id, hour) => ({ id: snoUuid8.to(id), flake: int64.to(flakes[hour]) }));
  await db.insertInto("orders").values(rows).execute();
  const start = new Date(1_763_650_000_000 + 5 * HOUR);
  const found = await between(db, start, new Date(start.getTime() + 5 * HOUR));
  const expected = SNOS.map((id, hour) => ({ id, flake: flakes[hour] })).slice(5, 10);
  assert.deepEqual(
    found.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    expected,
  );
}

const server = await createDatabase("kysely");
test("Kysely stores IDs in PostgreSQL", { skip: !server }, async () => {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new postgres.Pool(server) }) });
  await check(db, { id: "uuid", flake: "bigint" });
  await db.destroy();
});

test("Kysely stores IDs in SQLite", async () => {
  const sqlite = new Database(":memory:");
  sqlite.defaultSafeIntegers();
  const db = new Kysely({ dialect: new SqliteDialect({ database: sqlite }) });
  await check(db, { id: "text", flake: "integer" });
  await db.destroy();
});
