// Calls that never wait: the IDs that can be made now, or else fewer IDs or an error.
import assert from "node:assert/strict";
import { test } from "node:test";
import { onEachMachine } from "./machines.mjs";
import { NOW, refused, scripted } from "./refusals.mjs";

const SECRET = new Uint8Array(16);

const fields = (shard) => [
  { kind: "timestamp", bits: 54, tick: "1ms", epoch_ms: 0 },
  { kind: "bindable", bits: shard, name: "shard" },
  { kind: "sequence", bits: 2 },
];

/** Options under which other calls would wait for an hour, and would fail the test by `onStall`. */
const PATIENT = {
  onExhausted: "wait",
  maxWait: 3_600_000,
  onStall: () => assert.fail("it waits"),
};

onEachMachine(({ hotguid, layout, randflake, sno }) => {
  const small = layout.Layout.fromJson(JSON.stringify({ id: "integer", bits: 64, fields: fields(8) }));
  const wide = layout.Layout.fromJson(JSON.stringify({ id: "bytes", bits: 80, fields: fields(24) }));
  const shard = (of) => (number, more) => new layout.Generator(of, { bindables: { shard: number }, ...more });
  const node = (number, more) =>
    new randflake.Generator(new randflake.Grant(number, 1_730_000_000, 2_803_741_824), SECRET, more);

  /** Families: a maker of numbered generators, the IDs of a generator in a tick, the length of a tick. */
  const FAMILIES = {
    sno: {
      make: (number, more) => new sno.Generator({ partition: number, sequenceMax: 3, ...more }),
      perTick: 4,
      tickMs: 4,
      Many: sno.SnoArray,
    },
    randflake: { make: node, perTick: 131_072, tickMs: 1000, Many: randflake.RandflakeArray },
    hotguid: {
      make: (_, more) => new hotguid.Generator(more),
      perTick: 1 << 24,
      tickMs: 1000,
      Many: hotguid.HotGuidArray,
    },
    layout: { make: shard(small), perTick: 4, tickMs: 1, Many: layout.LayoutArray },
    "byte layout": { make: shard(wide), perTick: 4, tickMs: 1, Many: layout.LayoutArray },
  };

  for (const [name, { make, perTick, tickMs, Many }] of Object.entries(FAMILIES)) {
    const patient = (number = 1, clock = () => NOW) => make(number, { ...PATIENT, clock });

    test(`${name}: where a tick is used up they say when to retry`, () => {
      const ids = patient();
      assert.equal(ids.generateMany(perTick - 1).length, perTick - 1);
      ids.tryGenerate();
      refused("sequence_exhausted", () => ids.tryGenerate(), { retryAt: NOW + tickMs });
      assert.equal(ids.tryGenerateMany(5).length, 0);
    });

    test(`${name}: batches hold what there is now`, () => {
      const ids = patient();
      ids.generateMany(perTick - 3);
      const some = ids.tryGenerateMany(2);
      const rest = ids.tryGenerateMany(7000);
      assert(some instanceof Many && rest instanceof Many);
      assert.deepEqual([some.length, rest.length, ids.tryGenerateMany(0).length], [2, 1, 0]);
      assert.equal(new Set([...some, ...rest].map(String)).size, 3);
      const packed = rest.bytes ?? rest.ids ?? rest.packed;
      assert.equal(packed.buffer.byteLength, packed.byteLength, "no memory is kept for what is not there");
    });

    test(`${name}: they go on in the next tick`, () => {
      let now = NOW;
      const ids = patient(1, () => now);
      assert.equal(ids.tryGenerateMany(perTick).length, perTick);
      now += tickMs;
      const first = ids.tryGenerate();
      const rest = ids.tryGenerateMany(perTick - 1);
      assert.equal(rest.length, perTick - 1);
      assert.notDeepEqual(rest.at?.(0) ?? rest.ids[0], first);
      refused("sequence_exhausted", () => ids.tryGenerate());
    });

    test(`${name}: all other errors are thrown`, () => {
      const cause = new RangeError("theirs");
      const broken = patient(1, () => {
        throw cause;
      });
      refused("clock_failed", () => broken.tryGenerate(), { cause });
      refused("clock_failed", () => broken.tryGenerateMany(2), { cause });
      refused("out_of_range", () => broken.tryGenerateMany((1 << 24) + 1), { field: "count" });
      const closed = patient();
      closed.close();
      refused("generator_closed", () => closed.tryGenerate());
      refused("generator_closed", () => closed.tryGenerateMany(2));
      const { tryGenerate, tryGenerateMany } = closed;
      for (const method of [tryGenerate, tryGenerateMany]) refused("invalid_type", () => method(1), { field: "this" });
    });
  }

  for (const name of ["randflake", "layout", "byte layout"]) {
    const { make } = FAMILIES[name];

    test(`${name}: a clock that is behind is not waited for`, () => {
      const ids = make(1, { ...PATIENT, clock: scripted(NOW, NOW - 5000) });
      ids.tryGenerate();
      refused("clock_behind", () => ids.tryGenerate());
      assert.equal(ids.tryGenerateMany(3).length, 0);
    });
  }

  test("sno: a clock that steps back again is not waited for", () => {
    const ids = FAMILIES.sno.make(1, { ...PATIENT, clock: scripted(NOW, NOW - 8, NOW, NOW - 4) });
    for (let k = 0; k < 3; k++) ids.tryGenerate();
    refused("clock_behind", () => ids.tryGenerate());
    assert.equal(ids.tryGenerateMany(3).length, 0);
  });

  test("what IDs are about is taken as elsewhere", () => {
    const ids = new sno.Generator({ metabyte: 9 });
    assert.deepEqual([ids.tryGenerate(), ids.tryGenerate(7)].map(sno.metabyte), [9, 7]);
    assert.deepEqual([...ids.tryGenerateMany(1), ...ids.tryGenerateMany(1, 5)].map(sno.metabyte), [9, 5]);
    refused("out_of_range", () => ids.tryGenerate(256), { field: "metabyte" });
    refused("out_of_range", () => ids.tryGenerateMany(0, 256), { field: "metabyte" });
    assert.deepEqual([...new hotguid.Generator().tryGenerateMany(2, 9)].map(hotguid.shardKey), [9, 9]);
    assert.equal(hotguid.shardKey(new hotguid.Generator().tryGenerate(8)), 8);
    const open = new layout.Generator(small);
    assert.equal(small.parse(open.tryGenerate({ shard: 3 })).bindables.shard, 3);
    assert.equal(small.parse(open.tryGenerateMany(1, { shard: 4 }).at(0)).bindables.shard, 4);
    refused("missing_field", () => open.tryGenerate(), { field: "shard" });
    const flakes = node(7);
    assert.equal(flakes.inspect(randflake.decodeText(flakes.tryGenerateText())).node, 7);
    assert.equal(flakes.inspect(flakes.tryGenerate()).node, 7);
  });
});
