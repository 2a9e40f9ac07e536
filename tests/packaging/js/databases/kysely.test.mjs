// Kysely's plugin on PostgreSQL and SQLite; for SQL Server what is sent.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  DummyDriver,
  Kysely,
  MssqlAdapter,
  MssqlIntrospector,
  MssqlQueryCompiler,
  PostgresDialect,
  SqliteDialect,
  sql,
} from "kysely";
import Database from "libsql";
import postgres from "pg";
import { hotguid } from "polyflake";
import * as polyflake from "polyflake/kysely";
import { GUIDS, SAMPLES } from "./ids.mjs";
import { database } from "./postgres.mjs";

const { IdPlugin, int64 } = polyflake;

const TYPES = {
  snoText: ['varchar(16) COLLATE "C"', "text"],
  snoBytes: ["bytea", "blob"],
  snoUuid8: ["uuid", "text"],
  snoUuid: ["uuid", "text"],
  hotguidText: ["uuid", "text"],
  hotguidBytes: ["bytea", "blob"],
  int64: ["bigint", "integer"],
  randflakeInt64: ["bigint", "integer"],
};

const refused = { name: "PolyflakeError", code: /^invalid_(type|length|character)$/ };

async function check(plain, type, form) {
  const { ids, span } = SAMPLES[form];
  const db = plain.withPlugin(new IdPlugin({ id: polyflake[form], parent: polyflake[form] }));
  await sql`DROP TABLE IF EXISTS t`.execute(plain);
  await sql.raw(`CREATE TABLE t (place text PRIMARY KEY, id ${type} UNIQUE, parent ${type})`).execute(plain);
  const rows = ids.map((id, place) => ({ place: `${place}`, id, parent: place > 0 ? ids[place - 1] : null }));
  await db.insertInto("t").values(rows.toReversed()).execute();
  const selected = db.selectFrom("t").select("id").orderBy("id");
  const found = async (query) => (await query.execute()).map(({ id }) => id);
  assert.deepEqual(await found(selected), ids);
  assert.deepEqual(await found(selected.where("t.id", "in", [ids[4], ids[3]])), ids.slice(3, 5));
  assert.deepEqual(await found(selected.where("parent", "is", null)), ids.slice(0, 1));
  assert.deepEqual(await found(selected.where((eb) => eb(eb.val(ids[3]), "=", eb.ref("parent")))), ids.slice(4, 5));
  assert.deepEqual(
    await found(selected.where((eb) => eb.or([eb("id", "=", ids[1]), eb.not(eb("id", ">", ids[0]))]))),
    ids.slice(0, 2),
  );
  if (span)
    assert.deepEqual(
      await found(selected.where((eb) => eb.between("id", span.lowest, span.highest))),
      ids.slice(5, 10),
    );
  const children = db
    .selectFrom("t")
    .innerJoin("t as of", (on) => on.onRef("of.parent", "=", "t.id").on("t.id", "=", ids[2]));
  assert.deepEqual(await children.select(["of.id", "t.place"]).execute(), [{ id: ids[3], place: "2" }]);
  const expressed = (eb) => ({
    place: "last",
    id: eb.val(ids[0]),
    parent: eb.selectFrom("t").select("id").where("id", "=", ids[5]),
  });
  await db.deleteFrom("t").where("id", "=", ids[0]).execute();
  const added = db.insertInto("t").values(expressed).returningAll();
  assert.deepEqual(await added.execute(), [{ place: "last", id: ids[0], parent: ids[5] }]);
  const changed = db
    .insertInto("t")
    .values({ place: "last", id: ids[0] })
    .onConflict((conflict) => conflict.column("place").doUpdateSet({ parent: ids[1] }))
    .returning("parent");
  assert.deepEqual(await changed.execute(), [{ parent: ids[1] }]);
  const updated = db.updateTable("t").set({ parent: ids[4] }).where("id", "=", ids[0]).returning(["parent"]);
  assert.deepEqual(await updated.execute(), [{ parent: ids[4] }]);
  for (const wrong of ["short!", 7, {}])
    await assert.rejects(async () => db.selectFrom("t").where("id", "=", wrong).execute(), refused);
}

const server = await database("kysely");

describe("PostgreSQL", { skip: !server }, () => {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new postgres.Pool(server) }) });
  for (const [form, [type]] of Object.entries(TYPES)) test(form, () => check(db, type, form));
  test.after(() => db.destroy());
});

describe("SQLite", () => {
  const database = new Database(":memory:");
  const db = new Kysely({ dialect: new SqliteDialect({ database }) });
  for (const [form, [, type]] of Object.entries(TYPES))
    test(form, async () => {
      database.defaultSafeIntegers(/64/.test(form));
      await check(db, type, form);
    });

  test("a driver that rounds integers is found out", async () => {
    database.defaultSafeIntegers(false);
    const rounded = db.withPlugin(new IdPlugin({ id: int64 })).selectNoFrom(() => sql`9007199254740993`.as("id"));
    await assert.rejects(rounded.execute(), { code: "invalid_type", message: /all 64 bits/ });
  });
});

test("SQL Server is sent Hot Guids in its order", () => {
  const dialect = {
    createAdapter: () => new MssqlAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new MssqlIntrospector(db),
    createQueryCompiler: () => new MssqlQueryCompiler(),
  };
  const db = new Kysely({ dialect, plugins: [new IdPlugin({ key: polyflake.hotguidSql })] });
  const { lowest, highest } = SAMPLES.hotguidSql.span;
  const inSpan = db
    .selectFrom("t")
    .selectAll()
    .where((eb) => eb.between("key", lowest, highest))
    .compile();
  const { lowest: first, highest: last } = hotguid.timeRange(...spanOf(lowest, highest), { sql: true });
  assert.deepEqual(inSpan.parameters, [first, last]);
  const { parameters } = db.insertInto("t").values({ key: GUIDS[0], other: GUIDS[1] }).compile();
  assert.deepEqual(parameters, [hotguid.toSql(GUIDS[0]), GUIDS[1]]);
  assert.equal(polyflake.hotguidSql.from(hotguid.toSql(GUIDS[0]).toUpperCase()), GUIDS[0]);
});

function spanOf(lowest, highest) {
  return [hotguid.timestamp(lowest) * 1000, hotguid.timestamp(highest) * 1000 + 1000];
}
