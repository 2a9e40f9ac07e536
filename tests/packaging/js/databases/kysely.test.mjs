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

/** Expressions around columns and values, of which each finds `ids[4]`, beside its parent `ids[3]`. */
const EXPRESSIONS = {
  tuple: (ids) => (eb) => eb(eb.refTuple("id", "parent"), "=", eb.tuple(ids[4], ids[3])),
  parentheses: (ids) => (eb) => eb(eb.parens(eb.ref("id")), "=", eb.parens(eb.val(ids[4]))),
  "coalesce of columns": (ids) => (eb) => eb(eb.fn.coalesce("parent", "id"), "=", ids[3]),
  "coalesce of a column and a value": (ids) => (eb) =>
    eb(eb.fn.coalesce("parent", eb.val(ids[5])), "=", eb.fn.coalesce(eb.val(ids[3]), "id")),
  "functions in each other": (ids) => (eb) =>
    eb("id", "=", eb.fn("nullif", [eb.fn.coalesce(eb.val(ids[4]), "parent"), eb.val(ids[1])])),
  "case with conditions": (ids) => (eb) =>
    eb("id", "=", eb.case().when("parent", "=", ids[3]).then(ids[4]).else(eb.ref("parent")).end()),
  "case of a column": (ids) => (eb) =>
    eb(eb.case("parent").when(ids[3]).then(eb.ref("id")).else(ids[0]).end(), "=", eb.val(ids[4])),
};

/** Others, whose parameters are texts to PostgreSQL. */
const IN_SQLITE = {
  "coalesce of values": (ids) => (eb) => eb(eb.fn("COALESCE", [eb.val(ids[3]), eb.val(ids[5])]), "=", eb.ref("parent")),
  "case of values": (ids) => (eb) =>
    eb("id", "=", eb.case().when("parent", "=", ids[3]).then(ids[4]).else(ids[0]).end()),
};

/** Others, which SQLite does not know. */
const IN_POSTGRESQL = {
  "tuples in a list": (ids) => (eb) =>
    eb(eb.refTuple("id", "parent"), "in", [eb.tuple(ids[4], ids[3]), eb.tuple(ids[6], ids[4])]),
  any: (ids) => (eb) => eb("parent", "=", eb.fn("any", [eb.val([ids[3], ids.at(-1)])])),
  least: (ids) => (eb) => eb(eb.fn("least", [eb.val(ids[4]), eb.ref("parent")]), "=", eb.val(ids[3])),
};

async function check(plain, type, form, isPostgres = false) {
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
  for (const [name, condition] of Object.entries({ ...EXPRESSIONS, ...(isPostgres ? IN_POSTGRESQL : IN_SQLITE) })) {
    const rows = selected.where("id", "in", [ids[3], ids[4]]).where(condition(ids));
    assert.deepEqual(await found(rows), [ids[4]], name);
  }
  // PostgreSQL has no maximum of a UUID or of bytes before version 18.
  if (!isPostgres || !/^(uuid|bytea)$/.test(type)) {
    const later = db.selectFrom("t").select("place").groupBy("place");
    const last = await later.having((eb) => eb(eb.fn.max("id"), ">", ids.at(-2))).execute();
    assert.deepEqual(last, [{ place: `${ids.length - 1}` }]);
  }
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
  for (const [form, [type]] of Object.entries(TYPES)) test(form, () => check(db, type, form, true));
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
