// Tests the forms in which database columns store IDs. tests/packaging/js tests these forms with databases.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { hotguid, public as publicIds, randflake, sno } from "polyflake";
import * as drizzle from "polyflake/drizzle";
import * as forms from "polyflake/forms";
import * as prisma from "polyflake/prisma";
import { assertError } from "./assertions.mjs";
import { createRealm, requireIn } from "./realm.mjs";

const SNO = "a7rdmuv326nct5if";
const GUID = "691f29d0-bbaa-ddcc-ee01-0203ffffff7f";
const FLAKE = 4_594_531_474_933_654_033n;

/** Each form with an ID, its stored value, and other representations in which drivers return that value. */
const FORMS = {
  snoText: [SNO, SNO],
  snoBytes: [SNO, Buffer.from(sno.toBytes(SNO)), sno.toBytes(SNO), sno.toBytes(SNO).buffer, toHex(sno.toBytes(SNO))],
  snoUuid8: [SNO, sno.toUuid8(SNO), sno.toUuid8(SNO).toUpperCase()],
  snoUuid: [SNO, sno.toUuid(SNO)],
  hotguidText: [GUID, GUID, GUID.toUpperCase()],
  hotguidBytes: [GUID, Buffer.from(hotguid.toBytes(GUID)), hotguid.toBytes(GUID)],
  hotguidSql: [GUID, hotguid.toSql(GUID), hotguid.toSql(GUID).toUpperCase()],
  randflakeInt64: [randflake.encodeText(FLAKE), FLAKE, `${FLAKE}`],
  int64: [-FLAKE, -FLAKE, `${-FLAKE}`],
};

function toHex(bytes) {
  return `\\x${Buffer.from(bytes).toString("hex")}`;
}

const codes = ["invalid_type", "invalid_length", "invalid_character", "not_canonical", "out_of_range"];
const assertRejected = (call, given) =>
  assert.throws(call, ({ name, code }) => name === "PolyflakeError" && codes.includes(code), `${typeof given}`);

for (const [name, [id, stored, ...others]] of Object.entries(FORMS))
  describe(name, () => {
    const form = forms[name];

    test("an ID round-trips through a column", () => {
      assert.deepEqual(form.to(id), stored);
      for (const value of [stored, ...others]) assert.equal(form.from(value), id);
    });

    test("null stays null", () => {
      for (const none of [null, undefined]) assert.deepEqual([form.to(none), form.from(none)], [none, none]);
    });

    test("invalid IDs are rejected in both directions", () => {
      const wrong = ["", "short!", 7.5, {}, [], true, new Date(), new Uint8Array(3), 2n ** 64n, "1".repeat(40), "\\x0"];
      for (const value of wrong) {
        assertRejected(() => form.to(value), value);
        assertRejected(() => form.from(value), value);
      }
    });

    test("Prisma exports the same object", () => {
      assert.equal(prisma[name], form);
    });
  });

test("integers that a driver may have rounded are rejected", () => {
  const { int64, randflakeInt64 } = forms;
  assert.equal(int64.from(-5), -5n);
  assert.equal(int64.from(2 ** 53 - 1), 9_007_199_254_740_991n);
  assert.equal(randflakeInt64.from(8), "8");
  for (const number of [2 ** 53, -(2 ** 60), Number.NaN])
    assertError("invalid_type", () => int64.from(number), { field: "value" });
  for (const text of ["9223372036854775808", "-9223372036854775809"])
    assertError("out_of_range", () => int64.from(text));
  for (const text of ["0x10", " 1", "1e3", ""]) assertError("invalid_type", () => int64.from(text));
});

test("public IDs are stored as integers", () => {
  const ids = new publicIds.Keyring(new Uint8Array(32));
  for (const bits of [48, 63]) {
    const orders = ids.of("order", { bits });
    const form = forms.publicInt64(orders);
    assert.equal(form.column, "int64");
    assert.equal(form.to(orders.encode(42)), 42n);
    for (const value of [42n, 42, "42"]) assert.equal(form.from(value), orders.encode(42));
    for (const none of [null, undefined]) assert.deepEqual([form.to(none), form.from(none)], [none, none]);
    assertError("type_mismatch", () => form.to("invoice_1abpg7dgwhjba5j"));
    assertError("out_of_range", () => form.from(-1n));
  }
  assert.equal(prisma.publicInt64, forms.publicInt64);
});

test("a type of public IDs that is wider than its column is rejected when the column is created", () => {
  const wide = new publicIds.Keyring(new Uint8Array(32)).of("order", { bits: 64 });
  const columns = [forms, prisma, drizzle.pg, drizzle.mysql, drizzle.sqlite].map(({ publicInt64 }) => publicInt64);
  for (const publicInt64 of columns) {
    const { message } = assertError("out_of_range", () => publicInt64(wide), { field: "bits" });
    assert.equal(message, "expected bits from 1 to 63 for a column of signed 64-bit integers, found 64");
    for (const type of [undefined, null, "order", {}]) assertError("invalid_type", () => publicInt64(type));
  }
});

test("Prisma fields display IDs", () => {
  for (const forms of [null, 1, "id"]) assertError("invalid_type", () => prisma.fields(forms), { field: "forms" });
  const { id, key } = prisma.fields({ id: prisma.snoBytes, key: prisma.hotguidText });
  assert.deepEqual(id.needs, { id: true });
  assert.equal(id.compute({ id: sno.toBytes(SNO), key: 7 }), SNO);
  assert.equal(key.compute({ key: null }), null);
});

test("an ES module gets columns of the Drizzle that it imports, and errors of the package", () => {
  const program = `
    import { createRequire } from "node:module";
    import { MySqlColumn, mysqlTable } from "drizzle-orm/mysql-core";
    import { PgColumn, pgTable } from "drizzle-orm/pg-core";
    import { SQLiteColumn, sqliteTable } from "drizzle-orm/sqlite-core";
    import { mysql, pg, sqlite } from "polyflake/drizzle";
    import { PolyflakeError } from "polyflake";
    const columns = [[MySqlColumn, mysqlTable, mysql], [PgColumn, pgTable, pg], [SQLiteColumn, sqliteTable, sqlite]];
    const found = columns.map(([Column, table, { int64 }]) => table("t", { id: int64() }).id instanceof Column);
    try {
      pgTable("t", { id: pg.snoText() }).id.mapToDriverValue("x");
    } catch (error) {
      found.push(error instanceof PolyflakeError);
    }
    const required = Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes("drizzle-orm"));
    console.log(JSON.stringify([...found, required]));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  assert.deepEqual(JSON.parse(output), [true, true, true, true, []]);
});

test("a CommonJS library accepts the CommonJS columns", () => {
  const require = createRequire(import.meta.url);
  const { pg } = require("polyflake/drizzle");
  const { id } = require("drizzle-orm/pg-core").pgTable("t", { id: pg.snoBytes() });
  assert.deepEqual(id.mapToDriverValue(SNO), FORMS.snoBytes[1]);
});

test("forms work without WebAssembly and with another realm's bytes", () => {
  const { snoBytes } = requireIn(createRealm({ WebAssembly: undefined }), "forms");
  assert.deepEqual([...snoBytes.to(SNO)], [...sno.toBytes(SNO)]);
  assert.equal(snoBytes.from(sno.toBytes(SNO).buffer), SNO);
});
