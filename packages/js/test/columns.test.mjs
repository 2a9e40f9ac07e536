// Tests that layout columns are typed arrays with the same values as individual IDs, and that invalid columns are
// rejected.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertError, NOW } from "./assertions.mjs";
import { detachedBytes, throwingProxy } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";

const WIDE_DESCRIPTION = {
  id: "bytes",
  bits: 320,
  fields: [
    { kind: "timestamp", bits: 48, tick: "10ms", epoch_ms: 0 },
    { kind: "constant", bits: 16, name: "tag", type: "text", value: "hi" },
    { kind: "bindable", bits: 53, name: "most", invert: true },
    { kind: "bindable", bits: 54, name: "past" },
    { kind: "bindable", bits: 64, name: "full" },
    { kind: "bindable", bits: 24, name: "hash", type: "bytes" },
    { kind: "constant", bits: 5, name: "most", value: 3 },
    { kind: "sequence", bits: 32 },
    { kind: "unused", bits: 24 },
  ],
};
const HASH = { hash: new Uint8Array(3).fill(7) };
const countUp = (count, from = 0) => Float64Array.from({ length: count }, (_, k) => from + k);

onEachMachine(({ layout }) => {
  const { Layout, LayoutArray } = layout;
  const discord = Layout.preset("discord");
  const wideLayout = new Layout(WIDE_DESCRIPTION);

  /** Converts typed arrays to plain arrays. */
  const lists = (columns) => Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, [...column]]));
  const plainColumns = ({ unixMs, sequence, bindables, constants }) => ({
    ...lists({ unixMs, sequence }),
    bindables: lists(bindables),
    constants: lists(constants),
  });
  function parseOneByOne(its, ids, { bindables, constants }) {
    const all = [...ids].map((id) => its.parse(id));
    const named = (kind, columns) =>
      Object.fromEntries(Object.keys(columns).map((name) => [name, all.map((parsed) => parsed[kind][name])]));
    return {
      unixMs: all.map(({ unixMs }) => unixMs),
      sequence: all.map(({ sequence }) => sequence),
      bindables: named("bindables", bindables),
      constants: named("constants", constants),
    };
  }

  test("columns match the fields of each ID, for both types of layouts and any count", () => {
    for (const count of [0, 1, 2, 409, 410, 1023, 1024, 1025, 3000]) {
      const timestamp = BigInt64Array.from({ length: count }, (_, k) => BigInt(NOW + 10 * k));
      const sequence = countUp(count).map((value) => value % 4096);
      const process = sequence.map((value) => value % 32);
      const ids = discord.packColumns({ timestamp, sequence, bindables: { worker: 3, process } });
      assert(ids instanceof LayoutArray && ids.packed instanceof BigInt64Array);
      const columns = discord.parseColumns(ids.packed);
      assert.deepEqual(plainColumns(columns), parseOneByOne(discord, ids, columns));
      assert.deepEqual([columns.unixMs, columns.sequence, columns.bindables.process], [timestamp, sequence, process]);
      assert.deepEqual(Object.keys(columns.bindables), ["worker", "process"]);

      const full = BigInt64Array.from(timestamp, (time) => -time);
      const bindables = { most: countUp(count, 2 ** 52), past: timestamp, full };
      const constants = { tag: "ho", most: process };
      const bytes = wideLayout.packColumns({ timestamp, sequence, bindables: { ...HASH, ...bindables }, constants });
      assert(bytes.packed instanceof Uint8Array);
      assert.equal(bytes.packed.length, 40 * count);
      const read = wideLayout.parseColumns(bytes.packed);
      assert.deepEqual(plainColumns(read), parseOneByOne(wideLayout, bytes, read));
      assert.deepEqual(read.bindables, bindables);
    }
  });

  test("columns are numbers up to 53 bits and bigints above; bytes and strings have none", () => {
    const { unixMs, sequence, bindables, constants } = wideLayout.parseColumns(new Uint8Array(80));
    const kinds = (columns) => Object.entries(columns).map(([name, column]) => [name, column.constructor]);
    assert.deepEqual(kinds({ unixMs, sequence, ...bindables }), [
      ["unixMs", BigInt64Array],
      ["sequence", Float64Array],
      ["most", Float64Array],
      ["past", BigInt64Array],
      ["full", BigInt64Array],
    ]);
    assert.deepEqual(kinds(constants), [["most", Float64Array]]);
    const alone = new Layout({ id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64, name: "all" }] });
    const all = BigInt64Array.of(-1n);
    const none = { unixMs: undefined, sequence: undefined, constants: {} };
    assert.deepEqual(alone.parseColumns(all), { ...none, bindables: { all } });
  });

  test("numbers, bigints and Dates are accepted for fields of any width", () => {
    const fill = { sequence: 1, bindables: { worker: 1, process: 2 } };
    const [numbers, bigints] = [Float64Array.of(NOW, NOW + 1), BigInt64Array.of(BigInt(NOW), BigInt(NOW + 1))];
    const pack = (more) => discord.packColumns({ ...fill, ...more }).packed;
    assert.deepEqual(pack({ timestamp: numbers }), pack({ timestamp: bigints }));
    const sequence = BigInt64Array.of(1n, 2n);
    assert.deepEqual(
      pack({ timestamp: new Date(NOW), sequence }),
      pack({ timestamp: NOW, sequence: Float64Array.of(1, 2) }),
    );
    const full = BigInt64Array.of(0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n);
    const ids = wideLayout.packColumns({ timestamp: NOW, sequence: 0, bindables: { ...HASH, most: 0, past: 0, full } });
    assert.deepEqual(wideLayout.parseColumns(ids.packed).bindables.full, full);
  });

  test("invalid columns are rejected with field and index", () => {
    const bindables = { worker: 1, process: 2 };
    const pack = (more) => discord.packColumns({ timestamp: NOW, sequence: 1, bindables, ...more });
    const fields = [{ kind: "timestamp", bits: 64, tick: "1s", epoch_ms: 0 }];
    const seconds = new Layout({ id: "integer", bits: 64, fields });
    for (const item of [0, 1023, 1024, 2999]) {
      const of = (bad) => () => pack({ sequence: new Float64Array(3000).with(item, bad) });
      for (const bad of [NaN, Infinity, 1.5, 2 ** 53, -(2 ** 60)])
        assertError("invalid_type", of(bad), { field: "sequence", item });
      for (const bad of [-1, 4096]) assertError("out_of_range", of(bad), { field: "sequence", item });
      const times = new BigInt64Array(3000).fill(BigInt(NOW)).with(item, 2n ** 62n);
      const { message } = assertError("time_out_of_range", () => pack({ timestamp: times }), { item });
      assert(message.startsWith(`item ${item}: `), message);
      const farFuture = new BigInt64Array(3000).with(item, 2n ** 62n);
      assertError("time_out_of_range", () => seconds.parseColumns(farFuture), { item });
    }
    const two = countUp(2);
    assertError("invalid_length", () => pack({ timestamp: countUp(2, NOW), sequence: countUp(3) }), {
      field: "sequence",
    });
    assertError("invalid_type", () => pack({}), { field: "values" });
    for (const value of [undefined, null, 1, ""]) assertError("invalid_type", () => discord.packColumns(value));
    for (const value of [[1, 2], new Int32Array(2), new BigUint64Array(2), new Float32Array(2), "1", {}])
      assertError("invalid_type", () => pack({ timestamp: countUp(2, NOW), sequence: value }));
    const other = { ...bindables, other: two };
    assertError("unknown_field", () => pack({ sequence: two, bindables: other }), { field: "other" });
    assertError("unknown_field", () => pack({ sequence: two, unixMs: two }), { field: "unixMs" });
    for (const count of [0, 2])
      assertError("missing_field", () => discord.packColumns({ timestamp: NOW, sequence: countUp(count) }));
    const hash = { most: 0, past: 0, full: 0, hash: countUp(1) };
    assertError("invalid_type", () => wideLayout.packColumns({ timestamp: NOW, sequence: 0, bindables: hash }));
    const transferred = new Float64Array(2);
    structuredClone(transferred.buffer, { transfer: [transferred.buffer] });
    assert.equal(pack({ sequence: transferred }).length, 0);
    assertError("invalid_length", () => pack({ timestamp: countUp(2, NOW), sequence: transferred }));
  });

  test("invalid IDs are rejected", () => {
    const array = new LayoutArray(new BigInt64Array(1));
    for (const value of [undefined, null, 1n, [1n], new Uint8Array(8), new BigUint64Array(1), array, throwingProxy])
      assertError("invalid_type", () => discord.parseColumns(value), { field: "packed" });
    for (const value of [undefined, new BigInt64Array(5), new ArrayBuffer(40), "x".repeat(40)])
      assertError("invalid_type", () => wideLayout.parseColumns(value), { field: "packed" });
    for (const length of [1, 39, 41])
      assertError("invalid_length", () => wideLayout.parseColumns(new Uint8Array(length)));
    assert.equal(wideLayout.parseColumns(detachedBytes(40)).sequence.length, 0);
  });

  test("long IDs are packed in several calls", () => {
    const fields = [
      { kind: "bindable", bits: 992, name: "b", type: "text" },
      { kind: "sequence", bits: 32 },
    ];
    const long = new Layout({ id: "bytes", bits: 1024, fields });
    const pack = (sequence) => long.packColumns({ sequence, bindables: { b: "long" } });
    const sequence = countUp(300, 5);
    const ids = pack(sequence);
    assert.deepEqual(long.parseColumns(ids.packed), { unixMs: undefined, sequence, bindables: {}, constants: {} });
    assert.equal(long.parse(ids.at(299)).bindables.b, "long");
    assertError("out_of_range", () => pack(new Float64Array(2 ** 21 + 1)), { field: "count" });
  });
});
