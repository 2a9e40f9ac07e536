// Tests the recipe for TypeORM relations between entities whose keys are IDs, in PostgreSQL and SQLite. TypeORM
// converts a key, but it does not convert the foreign key that it derives from that key.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as forms from "polyflake/forms";
import { DataSource, EntitySchema } from "typeorm";
import { SNOS } from "./ids.mjs";
import { LibsqlDriver } from "./libsql.mjs";
import { createDatabase } from "./postgres.mjs";
import { recipe, run } from "./recipes.mjs";

const { Customer, Order } = await run("typeorm-relations", recipe("integrations/typeorm.md", "typeorm"), [
  "Customer",
  "Order",
]);

const PG_TYPES = { snoText: "varchar", snoBytes: "bytea", snoUuid8: "uuid", snoUuid: "uuid" };
const SQLITE_TYPES = { snoText: "text", snoBytes: "blob", snoUuid8: "text", snoUuid: "text" };

/** Returns an entity's columns, which are the recipe's columns with a different ID form. */
function columnsOf(columns, form, type) {
  const size = type === "varchar" ? { length: 16, collation: "C" } : {};
  const columnOptions = (column) =>
    column.transformer === forms.snoUuid8 ? { ...column, type, ...size, transformer: forms[form] } : column;
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, columnOptions(column)]));
}

/** Returns the recipe's entities with a different ID form. */
function entitiesOf(form, type) {
  const named = ({ options }, name, target) =>
    new EntitySchema({
      ...options,
      name: `${name}_${form}`,
      columns: columnsOf(options.columns, form, type),
      relations: Object.fromEntries(
        Object.entries(options.relations).map(([property, relation]) => [
          property,
          { ...relation, target: `${target}_${form}` },
        ]),
      ),
    });
  return [named(Customer, "Customer", "Order"), named(Order, "Order", "Customer")];
}

const [ANNA, BO, ...IDS] = SNOS;

async function check(source, form) {
  const customers = source.getRepository(`Customer_${form}`);
  const orders = source.getRepository(`Order_${form}`);
  const { to } = forms[form];
  await customers.save([{ id: ANNA }, { id: BO }]);

  // Write orders in several ways: through the related object, a partial object, the column, the customer, and the query
  // builder.
  const [byObject, byPart, byColumn, cascaded, byBuilder, without] = IDS;
  const [anna, bo] = [await customers.findOneByOrFail({ id: ANNA }), await customers.findOneByOrFail({ id: BO })];
  await orders.save({ id: byObject, customer: anna });
  await orders.save({ id: byPart, customer: { id: ANNA } });
  await orders.save({ id: byColumn, customerId: ANNA });
  await orders.save({ id: without });
  await customers.save({ id: IDS[10], orders: [{ id: cascaded }] });
  await orders.insert({ id: byBuilder, customer: bo });

  const stored = await orders.createQueryBuilder("o").select(["o.id", "o.customerId"]).orderBy("o.id").getMany();
  assert.deepEqual(
    stored.map(({ id, customerId }) => [id, customerId]),
    [
      [byObject, ANNA],
      [byPart, ANNA],
      [byColumn, ANNA],
      [cascaded, IDS[10]],
      [byBuilder, BO],
      [without, null],
    ],
  );

  // Read the relation from both sides, and use it in conditions.
  const idsOf = (rows) => rows.map(({ id }) => id).toSorted();
  const read = await orders.find({ relations: { customer: true }, order: { id: "ASC" } });
  assert.deepEqual(
    read.map(({ customer }) => customer?.id),
    [ANNA, ANNA, ANNA, IDS[10], BO, undefined],
  );
  const found = await customers.findOneOrFail({ where: { id: ANNA }, relations: { orders: true } });
  assert.deepEqual(idsOf(found.orders), [byObject, byPart, byColumn]);
  assert.deepEqual(idsOf(await orders.find({ where: { customer: { id: ANNA } } })), [byObject, byPart, byColumn]);
  assert.deepEqual(idsOf(await orders.find({ where: { customerId: BO } })), [byBuilder]);
  const joined = orders
    .createQueryBuilder("o")
    .innerJoinAndSelect("o.customer", "c")
    .where("c.id = :id", { id: to(BO) });
  assert.deepEqual(
    (await joined.getMany()).map(({ id, customer }) => [id, customer.id]),
    [[byBuilder, BO]],
  );

  // Move orders to a different customer, detach them from their customer, and delete them together with their customer.
  await orders.save({ id: byPart, customer: bo });
  await orders.update({ id: byColumn }, { customerId: BO });
  assert.deepEqual(
    idsOf(await orders.find({ where: { customer: { id: BO } } })),
    [byPart, byColumn, byBuilder].toSorted(),
  );
  await orders.save({ id: byObject, customer: null });
  assert.equal((await orders.findOneByOrFail({ id: byObject })).customerId, null);
  await customers.delete({ id: BO });
  assert.deepEqual(idsOf(await orders.find()), [byObject, cascaded, without].toSorted());
}

function suite(name, types, options) {
  describe(name, { skip: !options }, () => {
    const source = new DataSource({
      ...options,
      entities: Object.entries(types).flatMap(([form, type]) => entitiesOf(form, type)),
      synchronize: true,
    });
    test.before(() => source.initialize());
    for (const form of Object.keys(types)) test(form, () => check(source, form));
    test.after(() => source.destroy());
  });
}

const server = await createDatabase("relations");
suite("PostgreSQL", PG_TYPES, server && { type: "postgres", ...server, username: server.user });
suite("SQLite", SQLITE_TYPES, {
  type: "better-sqlite3",
  driver: LibsqlDriver,
  database: ":memory:",
  prepareDatabase: (database) => database.defaultSafeIntegers(),
});
