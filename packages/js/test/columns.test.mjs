// Columns of layouts: the same values as ID by ID, in typed arrays, and refusals.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { detached, hostile } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";
import { NOW, refused } from "./refusals.mjs";

const WIDE = {
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
const counting = (count, from = 0) => Float64Array.from({ length: count }, (_, k) => from + k);

onEachMachine(({ layout }) => {
  const { Layout, LayoutArray } = layout;
  const discord = Layout.preset("discord");
  const wide = new Layout(WIDE);

  /** The columns of IDs, read ID by ID. */
  function oneByOne(its, ids) {
    const all = [...ids].map((id) => its.parse(id));
    const named = (kind, columns) =>
      Object.fromEntries(Object.keys(columns).map((name) => [name, all.map((parsed) => parsed[kind][name])]));
    return (columns) => ({
      unixMs: columns.unixMs && all.map(({ unixMs }) => unixMs),
      sequence: columns.sequence && all.map(({ sequence }) => sequence),
      bindables: named("bindables", columns.bindables),
      constants: named("constants", columns.constants),
    });
  }
  const plain = ({ unixMs, sequence, bindables, constants }) => {
    const lists = (columns) => Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, [...column]]));
    return {
      unixMs: unixMs && [...unixMs],
      sequence: sequence && [...sequence],
      bindables: lists(bindables),
      constants: lists(constants),
    };
  };

  test("columns are what one ID after the other gives, in either kind of layout and however many", () => {
    for (const count of [0, 1, 2, 409, 410, 1023, 1024, 1025, 3000]) {
      const times = BigInt64Array.from({ length: count }, (_, k) => BigInt(NOW + 10 * k));
      const sequence = counting(count).map((value) => value % 4096);
      const ids = discord.packColumns({
        timestamp: times,
        sequence,
        bindables: { worker: 3, process: sequence.map((value) => value % 32) },
      });
      assert(ids instanceof LayoutArray && ids.packed instanceof BigInt64Array);
      assert.deepEqual(
        [...ids],
        Array.from(times, (time, k) =>
          discord.pack({ timestamp: time, sequence: k % 4096, bindables: { worker: 3, process: k % 32 } }),
        ),
      );
      const columns = discord.parseColumns(ids.packed);
      assert.deepEqual(plain(columns), oneByOne(discord, ids)(columns));
      assert.deepEqual([columns.unixMs, columns.sequence], [times, sequence]);
      assert.deepEqual(Object.keys(columns.bindables), ["worker", "process"]);

      const bindables = {
        ...HASH,
        most: counting(count, 2 ** 52),
        past: times,
        full: BigInt64Array.from(times, (time) => -time),
      };
      const bytes = wide.packColumns({
        timestamp: times,
        sequence,
        bindables,
        constants: { tag: "ho", most: sequence.map((value) => value % 32) },
      });
      assert(bytes.packed instanceof Uint8Array);
      assert.equal(bytes.packed.length, 40 * count);
      const read = wide.parseColumns(bytes.packed);
      assert.deepEqual(plain(read), oneByOne(wide, bytes)(read));
      assert.deepEqual(
        [read.bindables.full, read.bindables.past, read.bindables.most],
        [bindables.full, bindables.past, bindables.most],
      );
    }
  });

  test("fields of at most 53 bits are numbers, wider ones and times bigints; bytes and texts have no column", () => {
    const { unixMs, sequence, bindables, constants } = wide.parseColumns(new Uint8Array(80));
    assert.deepEqual(
      [unixMs, sequence].map((column) => column.constructor),
      [BigInt64Array, Float64Array],
    );
    const kinds = (columns) => Object.entries(columns).map(([name, column]) => [name, column.constructor]);
    assert.deepEqual(kinds(bindables), [
      ["most", Float64Array],
      ["past", BigInt64Array],
      ["full", BigInt64Array],
    ]);
    assert.deepEqual(kinds(constants), [["most", Float64Array]]);
    const alone = new Layout({ id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64, name: "all" }] });
    assert.deepEqual(alone.parseColumns(BigInt64Array.of(-1n)), {
      unixMs: undefined,
      sequence: undefined,
      bindables: { all: BigInt64Array.of(-1n) },
      constants: {},
    });
  });

  test("numbers and bigints are taken alike, whatever the field's width", () => {
    const fill = { sequence: 1, bindables: { worker: 1, process: 2 } };
    const one = discord.packColumns({ ...fill, timestamp: Float64Array.of(NOW, NOW + 1) });
    assert.deepEqual(
      one.packed,
      discord.packColumns({ ...fill, timestamp: BigInt64Array.of(BigInt(NOW), BigInt(NOW + 1)) }).packed,
    );
    const two = discord.packColumns({ ...fill, timestamp: new Date(NOW), sequence: BigInt64Array.of(1n, 2n) });
    assert.deepEqual(
      [...two],
      [1, 2].map((sequence) => discord.pack({ ...fill, timestamp: NOW, sequence })),
    );
    fc.assert(
      fc.property(fc.array(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), { minLength: 1 }), (values) => {
        const full = BigInt64Array.from(values);
        const ids = wide.packColumns({ timestamp: NOW, sequence: 0, bindables: { ...HASH, most: 0, past: 0, full } });
        assert.deepEqual(wide.parseColumns(ids.packed).bindables.full, full);
      }),
    );
  });

  test("columns that are refused, with field and item", () => {
    const good = { timestamp: NOW, sequence: 1, bindables: { worker: 1, process: 2 } };
    const pack = (more) => discord.packColumns({ ...good, ...more });
    for (const item of [0, 1023, 1024, 2999]) {
      for (const bad of [NaN, Infinity, 1.5, 2 ** 53, -(2 ** 60)]) {
        refused("invalid_type", () => pack({ sequence: counting(3000).fill(1).with(item, bad) }), {
          field: "sequence",
          item,
        });
      }
      for (const bad of [-1, 4096])
        refused("out_of_range", () => pack({ sequence: counting(3000).fill(1).with(item, bad) }), {
          field: "sequence",
          item,
        });
      const times = new BigInt64Array(3000).fill(BigInt(NOW));
      const error = refused("time_out_of_range", () => pack({ timestamp: times.with(item, 2n ** 62n) }), { item });
      assert(error.message.startsWith(`item ${item}: `), error.message);
      const far = new BigInt64Array(3000);
      const micros = new Layout({
        id: "integer",
        bits: 64,
        fields: [{ kind: "timestamp", bits: 64, tick: "1s", epoch_ms: 0 }],
      });
      far[item] = 2n ** 62n;
      refused("time_out_of_range", () => micros.parseColumns(far), { item });
    }
    refused("invalid_length", () => pack({ timestamp: new Float64Array(2).fill(NOW), sequence: counting(3) }), {
      field: "sequence",
    });
    refused("invalid_type", () => pack({}), { field: "values" });
    for (const value of [undefined, null, 1, ""]) refused("invalid_type", () => discord.packColumns(value));
    for (const value of [[1, 2], new Int32Array(2), new BigUint64Array(2), new Float32Array(2), "1", {}]) {
      refused("invalid_type", () => pack({ timestamp: counting(2, NOW), sequence: value }));
    }
    refused(
      "unknown_field",
      () => pack({ sequence: counting(2), bindables: { worker: 1, process: 2, other: counting(2) } }),
      { field: "other" },
    );
    refused("unknown_field", () => pack({ sequence: counting(2), unixMs: counting(2) }), { field: "unixMs" });
    refused("missing_field", () => discord.packColumns({ timestamp: NOW, sequence: counting(2) }));
    refused("missing_field", () => discord.packColumns({ timestamp: NOW, sequence: counting(0) }));
    refused("invalid_type", () =>
      wide.packColumns({ timestamp: NOW, sequence: 0, bindables: { most: 0, past: 0, full: 0, hash: counting(1) } }),
    );
    const gone = new Float64Array(2);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    assert.equal(pack({ sequence: gone }).length, 0);
    refused("invalid_length", () => pack({ timestamp: counting(2, NOW), sequence: gone }));
  });

  test("IDs that are refused", () => {
    for (const value of [
      undefined,
      null,
      1n,
      [1n],
      new Uint8Array(8),
      new BigUint64Array(1),
      new LayoutArray(new BigInt64Array(1)),
      hostile,
    ]) {
      refused("invalid_type", () => discord.parseColumns(value), { field: "packed" });
    }
    for (const value of [undefined, new BigInt64Array(5), new ArrayBuffer(40), "x".repeat(40)])
      refused("invalid_type", () => wide.parseColumns(value), { field: "packed" });
    for (const length of [1, 39, 41]) refused("invalid_length", () => wide.parseColumns(new Uint8Array(length)));
    assert.equal(wide.parseColumns(detached(40)).sequence.length, 0);
  });

  test("IDs that are longer than a call has room for", () => {
    const long = new Layout({
      id: "bytes",
      bits: 40_000 * 8,
      fields: [
        { kind: "bindable", bits: 40_000 * 8 - 32, name: "b", type: "text" },
        { kind: "sequence", bits: 32 },
      ],
    });
    const ids = long.packColumns({ sequence: counting(3, 5), bindables: { b: "long" } });
    assert.deepEqual(long.parseColumns(ids.packed), {
      unixMs: undefined,
      sequence: counting(3, 5),
      bindables: {},
      constants: {},
    });
    assert.equal(long.parse(ids.at(2)).bindables.b, "long");
    refused("out_of_range", () => long.packColumns({ sequence: counting(6711), bindables: { b: "" } }), {
      field: "count",
    });
  });
});
