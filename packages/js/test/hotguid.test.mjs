// Tests the strings, bytes and fields of Hot Guids. tests/conformance tests the vectors.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertError, NOW } from "./assertions.mjs";
import { nonTextsFor } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";

const bytesFromHex = (hex) => new Uint8Array(Buffer.from(hex, "hex"));
const ID = "691f29d0-bbaa-ddcc-ee01-0203ffffff7f";
const PARTS = {
  timestamp: 1_763_650_000,
  machine: bytesFromHex("aabbccddee"),
  counter: 0x010203,
  shardKey: 0x7fff_ffff,
};

onEachMachine(({ hotguid }) => {
  const { Generator } = hotguid;

  test("both cases are read and lowercase is written", () => {
    assert.equal(hotguid.fromParts(PARTS), ID);
    assert.equal(hotguid.parse(ID.toUpperCase()), ID);
    assert.equal(hotguid.isValid(ID.toUpperCase()), true);
    assert.deepEqual(hotguid.parts(ID.toUpperCase()), PARTS);
    for (const convert of [hotguid.toSql, hotguid.fromSql]) assert.equal(convert(ID.toUpperCase()), convert(ID));
  });

  test("strings and bytes sort identically and round-trip", () => {
    const parts = fc.record({
      timestamp: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      machine: fc.uint8Array({ minLength: 5, maxLength: 5 }),
      counter: fc.integer({ min: 0, max: 2 ** 24 - 1 }),
      shardKey: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    });
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const [x, y] = [a, b].map(hotguid.fromParts);
        assert.deepEqual(hotguid.parts(x), { ...a });
        assert.equal(hotguid.fromSql(hotguid.toSql(x)), x);
        assert.equal(hotguid.fromBytes(hotguid.toBytes(x)), x);
        assert.equal(hotguid.fromDotnetBytes(hotguid.toDotnetBytes(x)), x);
        assert.equal(x < y, Buffer.compare(hotguid.toBytes(x), hotguid.toBytes(y)) < 0);
      }),
    );
  });

  test("invalid strings are rejected", () => {
    const reads = ["parse", "parts", "shardKey", "timestamp", "toSql", "fromSql", "toBytes", "toDotnetBytes"];
    for (const name of reads) {
      for (const value of nonTextsFor(ID)) assertError("invalid_type", () => hotguid[name](value));
      for (const text of ["", ID.slice(1), `${ID}0`, ID.replaceAll("-", ""), `urn:uuid:${ID}`, "0".repeat(1 << 20)]) {
        const { message } = assertError("invalid_length", () => hotguid[name](text));
        assert.equal(message, `expected length 36, found ${text.length}`);
      }
      for (const bad of ["g", "G", "-", "\0", "\ufeff", "\uff11", "\u0661", "а", "\ud800"])
        assertError("invalid_character", () => hotguid[name](bad + ID.slice(1)), { position: 0 });
      for (const position of [8, 13, 18, 23]) {
        const text = `${ID.slice(0, position)}0${ID.slice(position + 1)}`;
        assertError("invalid_character", () => hotguid[name](text), { position });
      }
    }
    for (const value of ["", `${ID}0`, ID.replace("-", "0")]) assert.equal(hotguid.isValid(value), false);
  });

  test("a UUID of another version or variant is rejected", () => {
    for (const [at, digit] of [
      [14, "4"],
      [19, "c"],
    ]) {
      const uuid8 = hotguid.fromUuid8Parts({ timestamp: 1, machine: 0x2_5555_5555, counter: 1, shardKey: 2 });
      const other = uuid8.slice(0, at) + digit + uuid8.slice(at + 1);
      assertError("not_canonical", () => hotguid.uuid8Parts(other), { field: "id" });
    }
    for (const value of nonTextsFor(ID)) assertError("invalid_type", () => hotguid.uuid8Parts(value));
  });

  test("each call makes version 8 UUIDs only with the uuid8 option", async () => {
    const ids = new Generator({ uuid8: true, testClock: () => NOW });
    const made = [ids.generate(7), ids.tryGenerate(7), await ids.generateAsync(7), ...ids.generateMany(100, 7)];
    const parts = made.map((id) => hotguid.uuid8Parts(id));
    const { machine, counter } = parts[0];
    const expected = made.map((_, k) => ({
      timestamp: NOW / 1000,
      machine,
      counter: counter + k,
      shardKey: 7,
    }));
    assert.deepEqual(parts, expected);
    for (let k = 0; k < 200; k++)
      assertError("not_canonical", () => hotguid.uuid8Parts(new Generator({ uuid8: false }).generate()));
    for (const uuid8 of [null, 0, 1, "yes", {}])
      assertError("invalid_type", () => new Generator({ uuid8 }), { field: "uuid8" });
  });

  test("time ranges accept Dates and the SQL Server order on request", () => {
    const span = [NOW, NOW + 5000];
    const { lowest, highest } = hotguid.timeRange(...span);
    const sql = { lowest: hotguid.toSql(lowest), highest: hotguid.toSql(highest) };
    assert.deepEqual(hotguid.timeRange(...span.map((ms) => new Date(ms)), { sql: true }), sql);
    for (const sql of [null, 0, 1, "yes", {}])
      assertError("invalid_type", () => hotguid.timeRange(0, NOW, { sql }), { field: "sql" });
    assertError("unknown_field", () => hotguid.timeRange(0, NOW, { SQL: true }));
    assertError("invalid_type", () => hotguid.timeRange(0, NOW, true));
  });

  test("stats contain the machine after the first ID", () => {
    const ids = new Generator({ testClock: () => NOW + 999 });
    assert.deepEqual(ids.stats(), { machine: undefined, lastSecond: undefined, len: 0, closed: false });
    const { machine } = hotguid.parts(ids.generate());
    ids.generate();
    assert.deepEqual(ids.stats(), { machine, lastSecond: NOW / 1000, len: 2, closed: false });
    assert.notDeepEqual(hotguid.parts(new Generator().generate()).machine, machine);
    assert.equal(ids.close(), undefined);
    assert.equal(ids.stats().closed, true);
  });
});
