// Tests the forms as TypeORM transformers, and tests the recipe, with PostgreSQL and SQLite.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as forms from "polyflake/forms";
import { Between, DataSource, EntitySchema, In, IsNull } from "typeorm";
import { INTEGERS, SAMPLES } from "./ids.mjs";
import { LibsqlDriver } from "./libsql.mjs";
import { createDatabase } from "./postgres.mjs";
import { recipe, run } from "./recipes.mjs";

const NAMES = ["Customer", "Order", "between"];
const { Customer, Order, between } = await run("typeorm", recipe("integrations/typeorm.md", "typeorm"), NAMES);

const PG_TYPES = {
  snoText: "varchar",
  snoBytes: "bytea",
  snoUuid8: "uuid",
  snoUuid: "uuid",
  hotguidText: "uuid",
  int64: "bigint",
  randflakeInt64: "bigint",
};
const SQLITE_TYPES = {
  snoText: "text",
  snoBytes: "blob",
  snoUuid8: "text",
  snoUuid: "text",
  hotguidText: "text",
  hotguidBytes: "blob",
  int64: "bigint",
  randflakeInt64: "bigint",
};

const entity = (form, type) =>
  new EntitySchema({
    name: form,
    columns: {
      place: { type: "integer", primary: true },
      id: {
        type,
        transformer: forms[form],
        nullable: true,
        unique: true,
        ...(type === "varchar" ? { length: 16, collation: "C" } : {}),
      },
    },
  });

async function check(source, form) {
  const { ids, span } = SAMPLES[form];
  const repository = source.getRepository(form);
  await repository.save([...ids.map((id, place) => ({ place, id })).toReversed(), { place: 100, id: null }]);
  const found = async (where) => (await repository.find({ where, order: { id: "ASC" } })).map(({ id }) => id);
  assert.deepEqual(
    (await found({})).filter((id) => id !== null),
    ids,
  );
  assert.deepEqual(await found({ id: IsNull() }), [null]);
  assert.deepEqual(await found({ id: ids[3] }), [ids[3]]);
  assert.deepEqual(await found({ id: In([ids[4], ids[3]]) }), ids.slice(3, 5));
  if (span) assert.deepEqual(await found({ id: Between(span.lowest, span.highest) }), ids.slice(5, 10));
  await repository.update({ id: ids[0] }, { id: null });
  assert.deepEqual((await repository.findOneByOrFail({ place: 0 })).id, null);
  for (const wrong of ["short!", {}])
    await assert.rejects(repository.save({ place: 101, id: wrong }), { name: "PolyflakeError" });
}

async function checkRecipe(source) {
  const { ids, span } = SAMPLES.snoUuid8;
  const orders = source.getRepository(Order);
  await orders.save(ids.map((id, hour) => ({ id, flake: INTEGERS[hour % INTEGERS.length] })));
  const found = (await between(orders, span)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  assert.deepEqual(
    found.map(({ id, flake }) => [id, flake]),
    ids.map((id, hour) => [id, INTEGERS[hour % INTEGERS.length]]).slice(5, 10),
  );
}

function suite(name, types, options) {
  describe(name, { skip: !options }, () => {
    const source = new DataSource({
      ...options,
      entities: [Customer, Order, ...Object.entries(types).map(([form, type]) => entity(form, type))],
      synchronize: true,
    });
    test.before(() => source.initialize());
    for (const form of Object.keys(types)) test(form, () => check(source, form));
    test("the recipe works", () => checkRecipe(source));
    test.after(() => source.destroy());
  });
}

const server = await createDatabase("typeorm");
suite("PostgreSQL", PG_TYPES, server && { type: "postgres", ...server, username: server.user });
suite("SQLite", SQLITE_TYPES, {
  type: "better-sqlite3",
  driver: LibsqlDriver,
  database: ":memory:",
  prepareDatabase: (database) => database.defaultSafeIntegers(),
});
