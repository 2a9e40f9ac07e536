// Prisma without an engine, on PostgreSQL and SQLite: IDs as text, bytes, UUIDs and integers.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaPg } from "@prisma/adapter-pg";
import { hotguid, type RandflakeText, randflake, type SnoId, sno, type Uuid7Id, uuid7 } from "polyflake";
import { fields, hotguidText, randflakeInt64, snoBytes, snoText, snoUuid8 } from "polyflake/prisma";
import { PrismaClient as OnPostgres } from "./postgresql/client.ts";
import { PrismaClient as OnSqlite } from "./sqlite/client.ts";

const NOW = 1_763_650_000_000;
const HOUR = 3_600_000;
const idForHour = (hour: number): SnoId =>
  sno.fromParts({
    tick: (NOW + hour * HOUR - 1_262_304_000_000) / 4,
    tickTock: false,
    metabyte: 2,
    partition: 60_000 - hour * 3000,
    sequence: hour,
  });
const IDS = Array.from({ length: 20 }, (_, hour) => idForHour(hour));
const SPAN = sno.timeRange(NOW + 5 * HOUR, NOW + 10 * HOUR);
const KEY = hotguid.generate();
/** A UUID v7 needs no conversion. */
const UUID7_IDS: Uuid7Id[] = IDS.map(() => uuid7.generate());
const RANDFLAKE_INTEGERS = [-(2n ** 63n), -1n, 4_594_531_474_933_654_033n, 2n ** 63n - 1n];

const idExtension = {
  result: {
    order: fields({
      id: snoUuid8,
      code: snoText,
      bytes: snoBytes,
      key: hotguidText,
      flake: randflakeInt64,
      other: snoUuid8,
    }),
  },
};
const extendClient = (client: OnPostgres) => client.$extends(idExtension);
type Client = ReturnType<typeof extendClient>;

const rowOf = (id: SnoId, place: number) => ({
  id: snoUuid8.to(id),
  code: snoText.to(id),
  bytes: snoBytes.to(id),
  key: hotguidText.to(KEY),
  flake: RANDFLAKE_INTEGERS[place % 4]!,
  seven: UUID7_IDS[place]!,
});

async function check(client: Client, columns: Record<"uuid" | "text" | "bytes", string>) {
  const { uuid, text, bytes } = columns;
  const made = `CREATE TABLE orders (id ${uuid} PRIMARY KEY, code ${text}, bytes ${bytes}, key ${uuid}, flake BIGINT, seven ${uuid} UNIQUE, other ${uuid})`;
  await client.$executeRawUnsafe(made);
  await client.order.createMany({ data: IDS.map(rowOf).toReversed() });
  const all = await client.order.findMany({ orderBy: { id: "asc" } });
  const ids: SnoId[] = all.map(({ id }) => id);
  const flakes: RandflakeText[] = all.map(({ flake }) => flake);
  assert.deepEqual(ids, IDS);
  assert.deepEqual(flakes.slice(0, 4), RANDFLAKE_INTEGERS.map(randflake.encodeText));
  for (const row of all) assert.deepEqual([row.code, row.bytes, row.key, row.other], [row.id, row.id, KEY, null]);
  const last = await client.order.findMany({ where: { seven: { gte: UUID7_IDS[15]! } }, orderBy: { seven: "asc" } });
  assert.deepEqual(
    last.map(({ seven }) => seven),
    UUID7_IDS.slice(15),
  );
  const { lowest, highest } = SPAN;
  const spans = [
    { id: { gte: snoUuid8.to(lowest), lte: snoUuid8.to(highest) } },
    { code: { gte: lowest, lte: highest } },
    { AND: [{ bytes: { in: IDS.slice(5, 10).map((id) => snoBytes.to(id)) } }] },
  ];
  for (const where of spans) {
    const found = await client.order.findMany({ where, orderBy: { code: "asc" } });
    assert.deepEqual(
      found.map(({ id }) => id),
      IDS.slice(5, 10),
    );
  }
  const { flake } = await client.order.findUniqueOrThrow({
    where: { bytes: snoBytes.to(IDS[2]!) },
    select: { flake: true },
  });
  assert.equal(flake, randflake.encodeText(RANDFLAKE_INTEGERS[2]!));
  const changed = await client.order.update({
    where: { id: snoUuid8.to(IDS[0]!) },
    data: { other: snoUuid8.to(IDS[1]!) },
  });
  assert.equal(changed.other, IDS[1]);
}

describe("Prisma", () => {
  test("stores IDs in PostgreSQL", { skip: !process.env.PGHOST }, async () => {
    const { PGHOST: host } = process.env;
    const client = new OnPostgres({ adapter: new PrismaPg({ host: host!, user: "test", database: "postgres" }) });
    await check(client.$extends(idExtension), { uuid: "uuid", text: 'varchar(16) COLLATE "C"', bytes: "bytea" });
    await client.$disconnect();
  });

  test("stores IDs in SQLite", async () => {
    const client = new OnSqlite({
      adapter: new PrismaLibSql({ url: "file::memory:?cache=shared", intMode: "bigint" }),
    });
    await check(client.$extends(idExtension) as unknown as Client, { uuid: "TEXT", text: "TEXT", bytes: "BLOB" });
    await client.$disconnect();
  });
});
