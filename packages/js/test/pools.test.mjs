// Pools: several generators as one, which move on to the next one when a tick is used up.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import * as native from "polyflake/native";
import * as wasm from "polyflake/wasm";
import { onEachMachine } from "./machines.mjs";
import { NOW, refused, scripted } from "./refusals.mjs";

const SECRET = new Uint8Array(16);
const clock = () => NOW;

/** A layout with 4 IDs in a millisecond for each of 256 shards. */
const SMALL = {
  id: "integer",
  bits: 64,
  fields: [
    { kind: "timestamp", bits: 54, tick: "1ms", epoch_ms: 0 },
    { kind: "bindable", bits: 8, name: "shard" },
    { kind: "sequence", bits: 2 },
  ],
};

onEachMachine(({ hotguid, layout, randflake, sno }) => {
  const small = layout.Layout.fromJson(JSON.stringify(SMALL));
  /** A generator with 4 sequences in a tick. */
  const partition = (number, more = {}) =>
    new sno.Generator({ partition: number, sequenceMax: 3, clock, maxWait: 0, ...more });
  const node = (number, secret = SECRET, more = {}) =>
    new randflake.Generator(new randflake.Grant(number, 1_730_000_000, 2_803_741_824), secret, { clock, ...more });
  const shard = (number, more = {}) =>
    new layout.Generator(small, { bindables: { shard: number }, clock, maxWait: 0, ...more });
  const partitionsOf = (ids) => ids.map((id) => sno.parse(id).partition);

  test("a tick holds as many IDs as all have", () => {
    const ids = new sno.Pool([1, 2, 3].map((number) => partition(number)));
    const made = Array.from({ length: 12 }, () => ids.generate(7));
    assert.deepEqual(partitionsOf(made), [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
    assert.equal(sno.metabyte(made[11]), 7);
    refused("sequence_exhausted", () => ids.generate(), { retryAt: NOW + 4 });
    refused("sequence_exhausted", () => ids.generateMany(2), { retryAt: NOW + 4, written: 0 });
  });

  test("a batch spreads over all, and says how far it came", () => {
    const ids = new sno.Pool([1, 2, 3].map((number) => partition(number)));
    assert.deepEqual(partitionsOf(ids.generateMany(10).texts()), [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
    refused("sequence_exhausted", () => ids.generateMany(3), { written: 2 });
    assert.equal(ids.generateMany(0).length, 0);
    refused("out_of_range", () => ids.generateMany(0, 256), { field: "metabyte" });
  });

  test("batches longer than a call's take whole ticks of each", () => {
    const ids = new sno.Pool([1, 2].map((number) => partition(number, { sequenceMax: 1999 })));
    const made = ids.generateMany(4000).texts();
    assert.equal(new Set(made).size, 4000);
    assert.deepEqual([...new Set(partitionsOf(made))], [1, 2]);
    refused("sequence_exhausted", () => ids.generate());
  });

  test("it waits only where all are used up", () => {
    const stalls = [];
    const more = { onStall: (stall) => stalls.push(stall), maxWait: 1000 };
    const readings = scripted(...Array(10).fill(NOW), NOW + 4);
    const ids = new sno.Pool([1, 2].map((number) => partition(number, { ...more, clock: readings })));
    const made = ids.generateMany(8);
    assert.deepEqual(stalls, []);
    assert.deepEqual(sno.parse(ids.generate()).unixMs, NOW + 4);
    assert(stalls.length > 0);
    assert.equal(new Set(made).size, 8);
  });

  test("what a clock calls may wait", () => {
    const inner = partition(9, { clock: scripted(...Array(6).fill(NOW), NOW + 4), maxWait: 1000 });
    let waited;
    const outer = partition(1, {
      clock() {
        waited ??= inner.generateMany(5).texts();
        return NOW;
      },
    });
    assert.equal(new sno.Pool([outer, partition(2)]).generateMany(8).length, 8);
    assert.deepEqual(
      waited.map((id) => sno.parse(id).unixMs - NOW),
      [0, 0, 0, 0, 4],
    );
  });

  test("a member ahead of the clock is passed over", () => {
    let now = NOW + 5000;
    const ids = new randflake.Pool([7, 8].map((number) => node(number, SECRET, { clock: () => now })));
    const of = () => ids.members[0].inspect(ids.generate()).node;
    assert.equal(of(), 7);
    now = NOW;
    assert.equal(of(), 8);
    now = NOW - 1000;
    refused("clock_behind", () => ids.generate(), { retryAt: NOW });
  });

  test("every family has pools", () => {
    const numbers = new randflake.Pool([node(7), node(42)]);
    const many = numbers.generateMany(131_073).ids;
    assert.equal(new Set(many).size, 131_073);
    assert.deepEqual(
      [0, 131_071, 131_072].map((k) => numbers.members[0].inspect(many[k]).node),
      [7, 7, 42],
    );
    assert.equal(numbers.members[1].inspect(numbers.generate()).sequence, 1);
    assert.equal(numbers.members[1].inspect(randflake.decodeText(numbers.generateText())).sequence, 2);
    const guids = new hotguid.Pool([new hotguid.Generator(), new hotguid.Generator()]);
    assert.equal(hotguid.shardKey(guids.generate(5)), 5);
    assert.equal(hotguid.shardKey(guids.generate()), 0);
    assert.equal(new Set(guids.generateMany(3000, 5)).size, 3000);
    const shards = new layout.Pool([shard(1), shard(2)]);
    const made = [...shards.generateMany(7), shards.generate()];
    assert.deepEqual(
      made.map((id) => small.parse(id).bindables.shard),
      [1, 1, 1, 1, 2, 2, 2, 2],
    );
    refused("sequence_exhausted", () => shards.generate());
  });

  test("IDs of bytes, one to a call", () => {
    const long = { ...SMALL, id: "bytes", bits: 80_000, fields: [...SMALL.fields, { kind: "unused", bits: 79_936 }] };
    const description = layout.Layout.fromJson(JSON.stringify(long));
    const of = (number) => new layout.Generator(description, { bindables: { shard: number }, clock });
    const ids = new layout.Pool([of(1), of(2)]);
    const made = [...ids.generateMany(8)].map((id) => description.parse(id));
    assert.deepEqual(
      made.map(({ bindables, sequence }) => [bindables.shard, Number(sequence)]),
      [1, 2].flatMap((s) => [0, 1, 2, 3].map((k) => [s, k])),
    );
  });

  test("what might meet is refused", () => {
    const out = "out_of_range";
    const one = partition(1);
    assert.match(
      refused(out, () => new sno.Pool([one, partition(2), one]), { item: 2 }).message,
      /^item 2: .*found one twice/,
    );
    assert.match(
      refused(out, () => new sno.Pool([partition(2), one, partition(1)]), { item: 2 }).message,
      /found the same twice/,
    );
    assert.match(refused(out, () => new sno.Pool([one, new sno.Generator()]), { item: 1 }).message, /found both/);
    assert.match(
      refused(out, () => new sno.Pool([one, partition(2, { metabyte: 7 })]), { item: 1, field: "metabyte" }).message,
      /^item 1: /,
    );
    refused(out, () => new sno.Pool([one, partition(2, { metabyte: 7 }), one]), { item: 2, field: undefined });
    new sno.Pool([new sno.Generator(), new sno.Generator()]).generate();
    refused(out, () => new randflake.Pool([node(7), node(7)]), { item: 1 });
    refused(
      "invalid_secret",
      () =>
        new randflake.Pool([
          node(7),
          node(
            8,
            SECRET.map(() => 1),
          ),
        ]),
      { item: 1 },
    );
    refused(out, () => new layout.Pool([shard(1), shard(1)]), { item: 1 });
    refused("missing_field", () => new layout.Pool([shard(1), new layout.Generator(small)]), {
      item: 1,
      field: "shard",
    });
    for (const members of [[], [shard(1)], [new layout.Generator(small)]]) {
      refused("missing_field", () => new layout.Pool([new layout.Generator(small), ...members]), {
        item: 0,
        field: "shard",
      });
    }
    const other = new layout.Generator(layout.Layout.preset("instagram"), { bindables: { shard: 3 } });
    refused("invalid_layout", () => new layout.Pool([shard(1), other]), { item: 1 });
    const guid = new hotguid.Generator();
    refused(out, () => new hotguid.Pool([guid, guid]), { item: 1 });
  });

  test("members are generators of the family and the machine", () => {
    for (const members of [undefined, null, 5, "abc", {}, { length: 1, 0: partition(1) }])
      refused("invalid_type", () => new sno.Pool(members), { field: "members" });
    refused("out_of_range", () => new sno.Pool([]), { field: "members" });
    assert.match(refused("invalid_type", () => new sno.Pool([partition(1), {}]), { item: 1 }).message, /^item 1: /);
    refused("invalid_type", () => new sno.Pool([partition(1), node(7)]), { item: 1 });
    const [mine, theirs] = [native, wasm].map((copy) => new copy.sno.Generator({ partition: 5 }));
    refused("invalid_type", () => new native.sno.Pool([mine, theirs]), { item: 1 });
    const endless = {
      *[Symbol.iterator]() {
        for (;;) yield mine;
      },
    };
    refused("out_of_range", () => new sno.Pool(endless), { field: "members" });
    for (const value of [undefined, null, 0, {}, mine, { [Symbol.iterator]: 1 }])
      refused("invalid_type", () => new sno.Pool(value), { field: "members" });
  });

  test("members stay what they are", () => {
    const members = [partition(1), partition(2)];
    const ids = new sno.Pool(members.values());
    assert.deepEqual(ids.members, members);
    const made = [ids.generate(), members[0].generate(), ids.generate(), members[0].generate(), ids.generate()];
    assert.deepEqual(
      made.map((id) => [sno.parse(id).partition, sno.parse(id).sequence]),
      [
        [1, 0],
        [1, 1],
        [1, 2],
        [1, 3],
        [2, 0],
      ],
    );
    assert.deepEqual(
      ids.members.map((member) => member.close().partition),
      [
        [0, 1],
        [0, 2],
      ],
    );
    refused("generator_closed", () => ids.generate());
    assert.throws(() => structuredClone(ids), { name: "DataCloneError" });
  });

  test("a failing clock is the cause", () => {
    const thrown = new Error("thrown");
    const ids = new sno.Pool([
      partition(1, {
        clock() {
          throw thrown;
        },
      }),
      partition(2),
    ]);
    assert.equal(refused("clock_failed", () => ids.generate()).cause, thrown);
  });

  test("no ID comes twice, whatever the clock shows and whoever asks", () => {
    const call = fc.record({ tick: fc.nat(5), count: fc.nat(12), member: fc.option(fc.nat(2)) });
    fc.assert(
      fc.property(fc.array(call, { maxLength: 40 }), (calls) => {
        let now = NOW;
        const ids = new sno.Pool(
          [1, 2, 3].map((number) => partition(number, { clock: () => now, onExhausted: "error" })),
        );
        const made = new Set();
        for (const { tick, count, member } of calls) {
          now = NOW + 4 * tick;
          for (let k = 0; k < count; k++) {
            try {
              const id = member === null ? ids.generate() : ids.members[member].generate();
              assert(!made.has(id), `${id} comes twice`);
              made.add(id);
            } catch (error) {
              assert(["sequence_exhausted", "clock_behind"].includes(error.code), error.stack);
            }
          }
        }
      }),
    );
  });
});
