// Tests the bindables, ranges, snapshots and options of layout generators. tests/conformance tests their ticks, windows
// and clocks.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as native from "polyflake/native";
import * as wasm from "polyflake/wasm";
import { assertError, NOW } from "./assertions.mjs";
import { throwingProxy } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";

const SMALL_DESCRIPTION = {
  id: "integer",
  bits: 64,
  fields: [
    { kind: "timestamp", bits: 42, tick: "10ms", epoch_ms: 0 },
    { kind: "bindable", bits: 20, name: "node_id" },
    { kind: "sequence", bits: 2, start: 1 },
  ],
};
const BYTES_DESCRIPTION = {
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
  const smallLayout = new Layout(SMALL_DESCRIPTION);
  const bytes = new Layout(BYTES_DESCRIPTION);
  const clock = () => NOW;
  const generatorWith = (options = {}) =>
    new Generator(smallLayout, { testClock: clock, bindables: { node_id: 5 }, maxWait: 0, ...options });

  test("an ID contains the fields of its generator", () => {
    const ids = generatorWith();
    assert.equal(ids.layout, smallLayout);
    assert.deepEqual(ids.stats(), { lastMs: undefined, len: 0n, closed: false });
    const { unixMs, sequence, bindables } = smallLayout.parse(ids.generate());
    assert.deepEqual([unixMs, sequence, bindables], [BigInt(NOW), 1, { node_id: 5 }]);
    assert.deepEqual(ids.stats(), { lastMs: BigInt(NOW), len: 1n, closed: false });
  });

  test("unbound bindables are passed with each call", () => {
    const ids = new Generator(bytes, { testClock: clock });
    assert.equal(bytes.parse(ids.generate({ tenant: "acme" })).bindables.tenant, "acme");
    for (const call of [
      (bindables) => ids.generate(bindables),
      (bindables) => ids.generateMany(0, bindables),
      (bindables) => ids.generateMany(2, bindables),
    ]) {
      for (const none of [undefined, {}]) assertError("missing_field", () => call(none), { field: "tenant" });
      assertError("unknown_field", () => call({ tenant: "a", x: 1 }), { field: "x" });
      assertError("invalid_type", () => call({ tenant: 7 }));
      assertError("out_of_range", () => call({ tenant: "longer" }), { field: "tenant" });
      assertError("invalid_character", () => call({ tenant: "\ud800" }), { field: "tenant" });
      for (const value of [null, 0, "a", ["a"], new Map()])
        assertError("invalid_type", () => call(value), { field: "bindables" });
    }
    assert.equal(bytes.parse(ids.generate({ tenant: "b" })).sequence, 1n, "a failed call uses no slot");
    const given = { tenant: "one" };
    const fixed = new Generator(bytes, { testClock: clock, bindables: given });
    given.tenant = "changed";
    assert.deepEqual(
      [fixed.generate(), fixed.generate({ tenant: "two" })].map((id) => bytes.parse(id).bindables.tenant),
      ["one", "two"],
    );
  });

  test("a batch of long IDs is made in several calls", () => {
    const fields = [
      { kind: "timestamp", bits: 64, tick: "1ms", epoch_ms: 0 },
      { kind: "unused", bits: 1024 - 80 },
      { kind: "sequence", bits: 16 },
    ];
    const long = new Layout({ id: "bytes", bits: 1024, fields });
    const sequences = [...new Generator(long, { testClock: clock }).generateMany(300)].map(
      (id) => long.parse(id).sequence,
    );
    assert.deepEqual(sequences, [...sequences.keys()]);
    assertError("out_of_range", () => new Generator(bytes, { testClock: clock }).generateMany(2 ** 24), {
      field: "count",
    });
  });

  test("a closed generator's snapshot can be restored, also through JSON", () => {
    const ids = generatorWith();
    ids.generateMany(2);
    const snapshot = JSON.parse(JSON.stringify(ids.close()));
    assert.deepEqual(snapshot, { format: 1, tick: NOW / 10, next_sequence: 3 });
    const restore = (changes, its = smallLayout, bindables = { node_id: 5 }) =>
      Generator.restore(its, { ...snapshot, ...changes }, { testClock: clock, bindables, maxWait: 0 });
    assert.equal(smallLayout.parse(restore({}).generate()).sequence, 3);
    for (const next_sequence of ["18446744073709551615", 7]) {
      const again = restore({ tick: NOW, next_sequence }, bytes, { tenant: "a" });
      assert.equal(bytes.parse(again.generate()).sequence, BigInt.asIntN(64, BigInt(next_sequence)));
    }
    for (const bad of [undefined, null, 0, "{}", []])
      assertError("invalid_layout", () => Generator.restore(smallLayout, bad));
    for (const bad of [{ next_sequence: undefined }, { closed: true }, { format: 2 }, { tick: 1.5 }, { tick: -1 }])
      assertError("invalid_layout", () => restore(bad));
    for (const bad of [{ next_sequence: 0 }, { next_sequence: 5 }, { tick: String(2n ** 50n) }])
      assertError("out_of_range", () => restore(bad));
  });

  test("a range adds the capacity of its worker IDs, and invalid ranges are rejected", () => {
    const discord = Layout.preset("discord");
    const options = { bindables: { process: 3 }, maxWait: 0 };
    const ids = new Generator(discord, { ...options, testClock: clock, range: ["worker", 8, 10n] });
    const made = [...ids.generateMany(3 * 4096)];
    assert.deepEqual(
      [0, 4095, 4096, 3 * 4096 - 1].map((k) => discord.parse(made[k]).bindables.worker),
      [8, 8, 9, 10],
    );
    const again = Generator.restore(discord, ids.close(), { ...options, testClock: clock, range: ["worker", 9, 31] });
    assertError("sequence_exhausted", () => again.generate(), { retryAt: NOW + 1 });
    for (const range of [null, 7, "worker", ["worker"], ["worker", "1", 2], ["worker", 1.5, 2], [1, 2, 3]])
      assertError("invalid_type", () => new Generator(discord, { ...options, range }), { field: "range" });
    for (const [first, last, field] of [
      [-1, 2, "range"],
      [0, 2n ** 64n, "range"],
      [0, 2n ** 64n - 1n, "worker"],
      [3, 2, "worker"],
    ])
      assertError("out_of_range", () => new Generator(discord, { ...options, range: ["worker", first, last] }), {
        field,
      });
    const machineOptions = { ...options, range: ["machine", 0, 1] };
    assertError("unknown_field", () => new Generator(discord, machineOptions), { field: "machine" });
  });

  test("a sequence without a timestamp is used once, on request", () => {
    const fields = [
      { kind: "unused", bits: 62 },
      { kind: "sequence", bits: 2 },
    ];
    const alone = new Layout({ id: "integer", bits: 64, fields });
    const never = () => assert.fail("is not read");
    const ids = new Generator(alone, { sequenceOnly: true, testClock: never });
    assert.deepEqual([...ids.generateMany(4)], [0n, 1n, 2n, 3n]);
    assertError("sequence_exhausted", () => ids.generate(), { retryAt: undefined });
    assertError("invalid_layout", () => new Generator(alone));
    assertError("unknown_field", () => new Generator(alone, { sequenceOnly: true, window: [0, 1] }), {
      field: "window",
    });
    for (const sequenceOnly of [null, 0, 1, "true"])
      assertError("invalid_type", () => new Generator(alone, { sequenceOnly }), { field: "sequenceOnly" });
  });

  test("invalid options are rejected", () => {
    const other = polyflake === native ? wasm : native;
    const foreignLayouts = [
      SMALL_DESCRIPTION,
      Layout,
      Object.create(smallLayout),
      throwingProxy,
      other.layout.Layout.preset("sonyflake"),
    ];
    for (const value of [undefined, null, 0, "a", {}, ...foreignLayouts])
      assertError("invalid_type", () => new Generator(value), { field: "layout" });
    for (const options of [null, 0, ""]) assertError("invalid_type", () => new Generator(smallLayout, options));
    assertError("unknown_field", () => generatorWith({ bindables: { node: 1 } }), { field: "node" });
    assertError("out_of_range", () => generatorWith({ bindables: { node_id: 2 ** 20 } }), { field: "node_id" });
    for (const bindables of [null, 0, "a", [1], new Map()])
      assertError("invalid_type", () => generatorWith({ bindables }), { field: "bindables" });
    assertError("invalid_layout", () => new Generator(Layout.preset("mastodon")));
    assert.throws(() => Generator(smallLayout), TypeError);
  });

  test("arrays can wrap packed IDs", () => {
    assert.deepEqual([...new LayoutArray(new BigInt64Array([1n, -1n]))], [1n, -1n]);
    const pairs = new LayoutArray(Uint8Array.of(1, 2, 3, 4), 2);
    pairs.at(0).fill(9);
    assert.deepEqual([...pairs], [Uint8Array.of(1, 2), Uint8Array.of(3, 4)], "an ID is the caller's own");
    for (const length of [0, 3, 5]) assertError("invalid_length", () => new LayoutArray(new Uint8Array(4), length));
    for (const length of [undefined, null, "2", 1.5])
      assertError("invalid_type", () => new LayoutArray(new Uint8Array(4), length), { field: "length" });
    for (const length of [-1, 65_537])
      assertError("out_of_range", () => new LayoutArray(new Uint8Array(4), length), { field: "length" });
    for (const index of [undefined, "0", 0n, 1.5, NaN]) assertError("invalid_type", () => pairs.at(index));
  });
});
