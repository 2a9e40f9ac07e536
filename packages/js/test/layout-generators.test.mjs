// Generators over custom layouts: IDs, windows, waits, snapshots, options.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import * as native from "polyflake/native";
import * as wasm from "polyflake/wasm";
import { hostile, NOT_A_NUMBER, NOT_WHOLE } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";
import { NOW, refused, scripted } from "./refusals.mjs";

const SMALL = {
  id: "integer",
  bits: 64,
  fields: [
    { kind: "timestamp", bits: 42, tick: "10ms", epoch_ms: 0 },
    { kind: "bindable", bits: 20, name: "node_id" },
    { kind: "sequence", bits: 2, start: 1 },
  ],
};
const BYTES = {
  id: "bytes",
  bits: 160,
  fields: [
    { kind: "timestamp", bits: 64, tick: "1ms", epoch_ms: 0 },
    { kind: "bindable", bits: 32, name: "tenant", type: "text" },
    { kind: "sequence", bits: 64 },
  ],
};

onEachMachine((polyflake) => {
  const { Generator, Layout, LayoutArray } = polyflake.layout;
  const small = new Layout(SMALL);
  const bytes = new Layout(BYTES);
  const at = (clock, options = {}) =>
    new Generator(small, {
      clock: typeof clock === "number" ? () => clock : clock,
      bindables: { node_id: 5 },
      maxWait: 0,
      ...options,
    });

  test("the sequence begins with its start in each tick", () => {
    let now = NOW + 9;
    const ids = at(() => now);
    const made = () => {
      const { unixMs, sequence, bindables } = small.parse(ids.generate());
      return [Number(unixMs), sequence, bindables.node_id];
    };
    assert.deepEqual(ids.stats(), { lastMs: undefined, len: 0n, closed: false });
    assert.deepEqual(
      [made(), made(), made()],
      [1, 2, 3].map((sequence) => [NOW, sequence, 5]),
    );
    refused("sequence_exhausted", () => ids.generate(), { retryAt: NOW + 10 });
    now += 1;
    assert.deepEqual(made(), [NOW + 10, 1, 5]);
    assert.deepEqual(ids.stats(), { lastMs: BigInt(NOW + 10), len: 1n, closed: false });
    now -= 10;
    refused("clock_behind", () => ids.generate(), { retryAt: NOW + 10 });
    assert.equal(ids.layout, small);
  });

  test("bindables that are not fixed are given for each ID", () => {
    const ids = new Generator(bytes, { clock: () => NOW });
    assert.equal(bytes.parse(ids.generate({ tenant: "acme" })).bindables.tenant, "acme");
    for (const call of [
      (bindables) => ids.generate(bindables),
      (bindables) => ids.generateMany(0, bindables),
      (bindables) => ids.generateMany(2, bindables),
    ]) {
      refused("missing_field", () => call(), { field: "tenant" });
      refused("missing_field", () => call({}), { field: "tenant" });
      refused("unknown_field", () => call({ tenant: "a", x: 1 }), { field: "x" });
      refused("invalid_type", () => call({ tenant: 7 }));
      refused("out_of_range", () => call({ tenant: "longer" }), { field: "tenant" });
      refused("invalid_character", () => call({ tenant: "\ud800" }), { field: "tenant" });
      for (const value of [null, 0, "a", ["a"], new Map()])
        refused("invalid_type", () => call(value), { field: "bindables" });
    }
    assert.deepEqual(ids.generateMany(3, { tenant: "é" }).length, 3);
    assert.equal(bytes.parse(ids.generate({ tenant: "b" })).sequence, 4n);
    const fixed = new Generator(bytes, { clock: () => NOW, bindables: { tenant: "one" } });
    assert.deepEqual(
      [fixed.generate(), fixed.generate({ tenant: "two" })].map((id) => bytes.parse(id).bindables.tenant),
      ["one", "two"],
    );
  });

  test("a batch is what single calls would be, also where IDs are long", () => {
    for (const [description, bindables] of [
      [SMALL, { node_id: 5 }],
      [BYTES, { tenant: "a" }],
    ]) {
      const its = new Layout(description);
      let now = NOW;
      const [one, many] = [0, 1].map(() => new Generator(its, { clock: () => now, bindables }));
      const most = its.isInteger ? 3 : 3000;
      for (const count of [0, 1, most - 1, most]) {
        now += 10;
        const array = many.generateMany(count);
        const single = Array.from({ length: count }, () => one.generate());
        assert.deepEqual([...array], single);
        assert.equal(array.length, count);
        assert.equal(array.packed.constructor, its.isInteger ? BigInt64Array : Uint8Array);
        assert.deepEqual([array.at(0), array.at(-1), array.at(count)], [single[0], single.at(-1), undefined]);
      }
    }
    const long = new Layout({
      id: "bytes",
      bits: 8 * 40_000,
      fields: [
        { kind: "timestamp", bits: 64, tick: "1ms", epoch_ms: 0 },
        { kind: "unused", bits: 8 * 40_000 - 80 },
        { kind: "sequence", bits: 16 },
      ],
    });
    const ids = new Generator(long, { clock: () => NOW }).generateMany(5);
    assert.deepEqual(
      [...ids].map((id) => long.parse(id).sequence),
      [0, 1, 2, 3, 4],
    );
  });

  test("a batch past a tick says how far it came", () => {
    const ids = at(NOW);
    refused("sequence_exhausted", () => ids.generateMany(5), { written: 3, retryAt: NOW + 10 });
    refused("sequence_exhausted", () => ids.generateMany(1), { written: 0 });
    const many = new Generator(bytes, { clock: scripted(...Array(3).fill(NOW), NOW - 1), bindables: { tenant: "a" } });
    const { written } = refused("clock_behind", () => many.generateMany(819 * 4));
    assert.equal(written, 819 * 3);
  });

  test("counts", () => {
    const ids = at(NOW);
    for (const value of [undefined, ...NOT_A_NUMBER, ...NOT_WHOLE])
      refused("invalid_type", () => ids.generateMany(value), { field: "count" });
    for (const value of [-1, 2 ** 24 + 1, 2 ** 31, 2 ** 32, 2 ** 53])
      refused("out_of_range", () => ids.generateMany(value), { field: "count" });
    refused("out_of_range", () => new Generator(bytes, { clock: () => NOW }).generateMany(2 ** 24), { field: "count" });
    assert.equal(ids.generateMany(3).length, 3);
  });

  test("asked to wait it waits, tells of it, and stops at what the callback throws", () => {
    const stalls = [];
    const ids = at(scripted(NOW, NOW, NOW + 4, NOW + 10), { maxWait: 1000, onStall: (stall) => stalls.push(stall) });
    ids.generateMany(3);
    assert.equal(small.parse(ids.generate()).unixMs, BigInt(NOW + 10));
    assert.deepEqual(
      stalls.map(({ reason, unixMs, sleptMs }) => [reason, unixMs, sleptMs >= 10]),
      [
        ["sequence_exhausted", NOW, false],
        ["sequence_exhausted", NOW + 4, true],
      ],
    );
    const thrown = new Error("enough");
    const impatient = at(NOW, {
      maxWait: 20,
      onStall() {
        throw thrown;
      },
    });
    impatient.generateMany(3);
    assert.throws(
      () => impatient.generate(),
      (error) => error === thrown,
    );
    const frozen = at(NOW, { maxWait: 1000 });
    frozen.generateMany(3);
    refused("sequence_exhausted", () => frozen.generate());
  });

  test("clocks that fail, and a clock that uses its generator", () => {
    const thrown = new Error("the clock's own");
    const ids = at(
      scripted(
        NaN,
        () => {
          throw thrown;
        },
        "1",
        NOW,
      ),
    );
    refused("clock_failed", () => ids.generate());
    refused("clock_failed", () => ids.generate(), { cause: thrown });
    assert.equal(refused("clock_failed", () => ids.generate()).cause.code, "invalid_type");
    ids.generate();
    for (const reading of [-1, 2 ** 53, 1e300]) refused("time_out_of_range", () => at(reading).generate());
    const made = [];
    let depth = 0;
    const inner = new Generator(bytes, {
      bindables: { tenant: "a" },
      clock() {
        if (depth++ < 4) made.push(inner.generate({ tenant: "b" }), ...inner.generateMany(3));
        depth--;
        return NOW;
      },
    });
    made.push(inner.generate());
    assert.deepEqual(new Set(made.map((id) => bytes.parse(id).bindables.tenant)), new Set(["a", "b"]));
    assert.equal(new Set(made.map((id) => bytes.parse(id).sequence)).size, made.length);
  });

  test("a window holds, and moves later", () => {
    let now = NOW - 1;
    const ids = at(() => now, { window: [new Date(NOW), NOW + 20] });
    refused("lease_not_started", () => ids.generate(), { retryAt: NOW });
    now = NOW + 20;
    refused("lease_expired", () => ids.generate());
    ids.extendWindow(NOW + 30);
    ids.generate();
    refused("out_of_range", () => ids.extendWindow(NOW - 10));
    refused("time_out_of_range", () => ids.extendWindow(2 ** 53));
    refused("out_of_range", () => at(NOW, { window: [NOW, NOW] }));
    refused("time_out_of_range", () => at(NOW, { window: [-10, NOW] }));
  });

  test("a closed generator is closed, and its snapshot goes on, also as JSON", () => {
    const now = NOW;
    const options = { clock: () => now, bindables: { node_id: 5 }, maxWait: 0 };
    const ids = new Generator(small, options);
    ids.generateMany(2);
    const snapshot = JSON.parse(JSON.stringify(ids.close()));
    assert.deepEqual(snapshot, { format: 1, tick: NOW / 10, next_sequence: 3 });
    for (const call of [() => ids.generate(), () => ids.generateMany(1), () => ids.close()])
      refused("generator_closed", call);
    assert.equal(ids.stats().closed, true);
    const restored = Generator.restore(small, snapshot, options);
    assert.equal(small.parse(restored.generate()).sequence, 3);
    refused("sequence_exhausted", () => restored.generate());
    const wide = new Generator(bytes, { clock: () => now, bindables: { tenant: "a" } });
    for (const next_sequence of ["18446744073709551615", 7]) {
      const again = Generator.restore(
        bytes,
        { tick: NOW, next_sequence },
        { clock: () => NOW, bindables: { tenant: "a" } },
      );
      assert.equal(bytes.parse(again.generate()).sequence, BigInt.asIntN(64, BigInt(next_sequence)));
    }
    assert.equal(wide.close().tick, 0);
    const { next_sequence, ...others } = snapshot;
    for (const bad of [
      undefined,
      null,
      0,
      "{}",
      [],
      others,
      { ...snapshot, closed: true },
      { ...snapshot, format: 2 },
      { ...snapshot, tick: 1.5 },
      { ...snapshot, tick: -1 },
      { ...snapshot, tick: "x" },
    ]) {
      refused("invalid_layout", () => Generator.restore(small, bad, options));
    }
    for (const bad of [
      { ...snapshot, next_sequence: 0 },
      { ...snapshot, next_sequence: 5 },
      { ...snapshot, tick: String(2n ** 50n) },
    ]) {
      refused("out_of_range", () => Generator.restore(small, bad, options));
    }
  });

  test("a range of numbers makes a generator as fast", () => {
    const discord = Layout.preset("discord");
    const options = { bindables: { process: 3 }, maxWait: 0 };
    const ids = new Generator(discord, { ...options, clock: () => NOW, range: ["worker", 8, 10n] });
    const made = [...ids.generateMany(3 * 4096)];
    assert.deepEqual(
      [0, 4095, 4096, 3 * 4096 - 1].map((k) => discord.parse(made[k]).bindables.worker),
      [8, 8, 9, 10],
    );
    refused("sequence_exhausted", () => ids.generate(), { retryAt: NOW + 1 });
    const again = Generator.restore(discord, ids.close(), { ...options, clock: () => NOW, range: ["worker", 9, 31] });
    refused("sequence_exhausted", () => again.generate(), { retryAt: NOW + 1 });
    for (const range of [null, 7, "worker", ["worker"], ["worker", "1", 2], ["worker", 1.5, 2], [1, 2, 3]])
      refused("invalid_type", () => new Generator(discord, { ...options, range }), { field: "range" });
    for (const [first, last, field] of [
      [-1, 2, "range"],
      [0, 2n ** 64n, "range"],
      [0, 2n ** 64n - 1n, "worker"],
      [3, 2, "worker"],
    ])
      refused("out_of_range", () => new Generator(discord, { ...options, range: ["worker", first, last] }), { field });
    refused("invalid_layout", () => new Generator(discord, { ...options, range: ["process", 0, 1] }));
    refused("unknown_field", () => new Generator(discord, { ...options, range: ["machine", 0, 1] }), {
      field: "machine",
    });
  });

  test("a sequence alone is given out once, where asked for", () => {
    const alone = new Layout({
      id: "integer",
      bits: 64,
      fields: [
        { kind: "unused", bits: 54 },
        { kind: "bindable", bits: 8, name: "b" },
        { kind: "sequence", bits: 2 },
      ],
    });
    const ids = new Generator(alone, {
      sequenceOnly: true,
      bindables: { b: 1 },
      clock: () => {
        throw new Error("is not read");
      },
    });
    assert.deepEqual([...ids.generateMany(4)], [4n, 5n, 6n, 7n]);
    refused("sequence_exhausted", () => ids.generate(), { retryAt: undefined });
    refused("invalid_layout", () => new Generator(alone, { bindables: { b: 1 } }));
    refused("invalid_layout", () => at(NOW, { sequenceOnly: true }));
    refused("unknown_field", () => new Generator(alone, { sequenceOnly: true, window: [0, 1] }), { field: "window" });
    for (const sequenceOnly of [null, 0, 1, "true"])
      refused("invalid_type", () => new Generator(alone, { sequenceOnly }), { field: "sequenceOnly" });
  });

  test("layouts that no IDs can be made of", () => {
    for (const name of ["mastodon", "baidu"]) refused("invalid_layout", () => new Generator(Layout.preset(name)));
    const without = (kind) =>
      new Layout({
        ...SMALL,
        fields: SMALL.fields.map((field) => (field.kind === kind ? { kind: "unused", bits: field.bits } : field)),
      });
    for (const kind of ["sequence", "timestamp"])
      refused("invalid_layout", () => new Generator(without(kind), { bindables: { node_id: 1 } }));
  });

  test("options", () => {
    for (const value of [undefined, null, 0, "a", {}, SMALL, Layout, Object.create(small), hostile])
      refused("invalid_type", () => new Generator(value), { field: "layout" });
    for (const options of [null, 0, ""]) refused("invalid_type", () => new Generator(small, options));
    refused("unknown_field", () => new Generator(small, { partition: 1 }), { field: "partition" });
    refused("unknown_field", () => new Generator(small, { bindables: { node: 1 } }), { field: "node" });
    refused("out_of_range", () => new Generator(small, { bindables: { node_id: 2 ** 20 } }), { field: "node_id" });
    refused("out_of_range", () => at(NOW, { maxWait: -1 }), { field: "maxWait" });
    for (const bindables of [null, 0, "a", [1], new Map()])
      refused("invalid_type", () => at(NOW, { bindables }), { field: "bindables" });
    assert.throws(() => Generator(small), TypeError);
    const given = { node_id: 9 };
    const ids = at(NOW, { bindables: given });
    given.node_id = 1;
    assert.equal(small.parse(ids.generate()).bindables.node_id, 9);
  });

  test("arrays over what others packed", () => {
    assert.deepEqual([...new LayoutArray(new BigInt64Array([1n, -1n]))], [1n, -1n]);
    assert.deepEqual(
      [...new LayoutArray(new Uint8Array([1, 2, 3, 4]), 2)].map((id) => [...id]),
      [
        [1, 2],
        [3, 4],
      ],
    );
    for (const value of [
      undefined,
      null,
      [],
      [1n],
      new BigUint64Array(1),
      new ArrayBuffer(8),
      new DataView(new ArrayBuffer(8)),
      hostile,
    ]) {
      refused("invalid_type", () => new LayoutArray(value), { field: "packed" });
    }
    for (const length of [0, 3, 5]) refused("invalid_length", () => new LayoutArray(new Uint8Array(4), length));
    for (const length of [undefined, null, "2", 1.5])
      refused("invalid_type", () => new LayoutArray(new Uint8Array(4), length), { field: "length" });
    for (const length of [-1, 65_537])
      refused("out_of_range", () => new LayoutArray(new Uint8Array(4), length), { field: "length" });
    const one = new LayoutArray(new Uint8Array([1, 2]), 2);
    one.at(0).fill(9);
    assert.deepEqual([...one.at(0)], [1, 2], "an ID is the caller's own");
    for (const index of [undefined, "0", 0n, 1.5, NaN]) refused("invalid_type", () => one.at(index));
  });

  test("oscillating clocks repeat nothing", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 40 }), (ticks) => {
        const ids = at(scripted(...ticks.map((tick) => NOW + 10 * tick)));
        const made = ticks.flatMap(() => {
          try {
            return [ids.generate()];
          } catch (error) {
            assert.match(error.code, /^(sequence_exhausted|clock_behind)$/);
            return [];
          }
        });
        assert.equal(new Set(made).size, made.length);
        assert.deepEqual(
          [...made].sort((a, b) => (a < b ? -1 : 1)),
          made,
        );
      }),
    );
  });

  test("a layout of another copy of the package is none of this one", () => {
    const other = polyflake === native ? wasm : native;
    refused("invalid_type", () => new Generator(other.layout.Layout.preset("sonyflake")), { field: "layout" });
  });
});
