// Tests generators of all formats in JavaScript, and sno's additional features. tests/conformance tests how ticks,
// windows and clocks work.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertError, NOW, scriptedClock } from "./assertions.mjs";
import { familiesOf } from "./families.mjs";
import { onEachMachine } from "./machines.mjs";

const START_2010 = Date.UTC(2010, 0, 1);

onEachMachine((polyflake) => {
  const { sno } = polyflake;
  const { Generator } = sno;

  test("an invalid Date is named in every error about a time", () => {
    const { hotguid, layout, uuid7 } = polyflake;
    const [invalid, preset] = [new Date(NaN), layout.Layout.preset("twitter")];
    const calls = [
      () => new uuid7.Generator({ resumeAfter: invalid }),
      () => new sno.Generator({ window: [invalid, NOW] }),
      () => preset.pack({ timestamp: invalid, sequence: 0, bindables: { datacenter: 0, worker: 0 } }),
      ...[sno, hotguid, uuid7, preset].map((format) => () => format.timeRange(invalid, NOW)),
    ];
    for (const call of calls) assert.match(assertError("invalid_type", call).message, /found an invalid Date$/);
  });

  for (const [name, { make, perTick, leftAfter, tickMs, large, Many, about, read }] of Object.entries(
    familiesOf(polyflake),
  ))
    describe(name, () => {
      test("a batch equals single calls, and generate works detached from its generator", () => {
        const ids = large({ testClock: () => NOW + 0.9 });
        const { generate } = ids;
        const first = read(ids, generate(...about));
        assert.deepEqual([first.unixMs, first.about], [NOW, about[0]?.shard ?? about[0]]);
        let made = 1;
        for (const count of [0, 1, 447, 448, 449, 1023, 1024, 1025, 3000]) {
          const array = ids.generateMany(count, ...about);
          const all = [...array];
          const expected = all.map((_, k) => ({ ...first, ordinal: (first.ordinal + made + k) % 2 ** 24 }));
          assert(array instanceof Many);
          assert.deepEqual(
            all.map((id) => read(ids, id)),
            expected,
          );
          made += count;
          assert.deepEqual(
            [array.length, array.at(0), array.at(-1), array.at(count), array.at(-count - 1)],
            [count, all[0], all.at(-1), undefined, undefined],
          );
        }
      });

      test("a batch past a tick reports how many IDs it made, and the next tick is usable", () => {
        let now = NOW;
        const onStall = () => assert.fail("it waits");
        const ids = make(1, { testClock: () => now, onExhausted: "error", maxWait: 3_600_000, onStall });
        const written = leftAfter(read(ids, ids.generate()).ordinal);
        const retryAt = NOW + tickMs;
        assertError("sequence_exhausted", () => ids.generateMany(perTick), { written, retryAt });
        assertError("sequence_exhausted", () => ids.generate(), { written: undefined, retryAt });
        now += tickMs;
        assert.equal(read(ids, ids.generate()).unixMs, now);
      });

      if (name === "randflake") return;

      test("a window of Dates or numbers applies and can be extended", () => {
        let now = NOW - 1;
        const ids = make(1, { testClock: () => now, window: [new Date(NOW), NOW + tickMs] });
        assertError("lease_not_started", () => ids.generate(), { retryAt: NOW });
        now = NOW;
        ids.generate();
        now = NOW + tickMs;
        assertError("lease_expired", () => ids.generate());
        ids.extendWindow(NOW + tickMs);
        assertError("lease_expired", () => ids.generate());
        ids.extendWindow(new Date(NOW + 2 * tickMs));
        assert.equal(read(ids, ids.generate()).unixMs, now);
      });
    });

  /** Creates a generator with 4 sequence numbers per tick and a scripted clock. */
  const smallGenerator = (clock, more = {}) =>
    new Generator({ partition: 1, sequenceMax: 3, testClock: clock, maxWait: 0, ...more });

  test("an ID contains the fields of its generator", () => {
    const ids = new Generator({
      partition: new Uint8Array([1, 2]),
      metabyte: 9,
      sequenceMin: 5,
      testClock: () => NOW + 3,
    });
    const fields = { unixMs: NOW, timestamp: new Date(NOW), tick: (NOW - START_2010) / 4, tickTock: false };
    assert.deepEqual(sno.parse(ids.generate()), { ...fields, metabyte: 9, partition: 258, sequence: 5 });
    assert.deepEqual(sno.parse(ids.generate(-0)), { ...fields, metabyte: 0, partition: 258, sequence: 6 });
    assert.deepEqual(sno.parse(ids.generate(255)), { ...fields, metabyte: 255, partition: 258, sequence: 7 });
    assert.equal(ids.partition, 258);
  });

  test("generateAt accepts Dates and uses a separate sequence", () => {
    const ids = new Generator({ partition: 1, testClock: () => NOW, metabyte: 2 });
    const made = [ids.generateAt(new Date(NOW)), ids.generateAt(NOW, 5), ids.generate()].map(sno.parse);
    assert.deepEqual(
      made.map(({ unixMs, sequence, metabyte }) => [unixMs, sequence, metabyte]),
      [
        [NOW, 0, 2],
        [NOW, 1, 5],
        [NOW, 0, 2],
      ],
    );
  });

  test("a closed generator's snapshot can be restored, also through JSON", () => {
    let now = NOW;
    const clock = () => now;
    const ids = new Generator({ partition: 258, sequenceMin: 2, sequenceMax: 9, testClock: clock });
    ids.generateMany(3);
    const snapshot = JSON.parse(JSON.stringify(ids.close()));
    const tick = (NOW - START_2010) / 4;
    const bounds = { sequenceMin: 2, sequenceMax: 9, sequence: 4 };
    const times = { now: tick, wallHi: tick, wallSafe: 0, drifts: 0 };
    assert.deepEqual(snapshot, { format: 1, partition: [1, 2], ...bounds, ...times });
    const { format, ...original } = snapshot;
    assert.equal(Generator.restore(original).stats().partition, 258);
    const restored = Generator.restore(snapshot, { testClock: clock, metabyte: 1 });
    const { sequence, metabyte } = sno.parse(restored.generate());
    assert.deepEqual([sequence, metabyte], [5, 1]);
    now = NOW - 4;
    assert.equal(sno.parse(restored.generate()).tickTock, true);
    const imported = (changes) => Generator.importOriginal({ ...snapshot, ...changes }, { testClock: clock }).stats();
    assert.equal(imported({ sequenceMin: 9, sequenceMax: 2 }).sequenceMin, 2);
    assert.equal(imported({ sequenceMax: 0 }).sequenceMax, 65_535);
  });

  test("an unused default generator closes with its partition", () => {
    const snapshot = new Generator().close();
    const [high, low] = snapshot.partition;
    assert.equal(sno.parse(Generator.restore(snapshot).generate()).partition, high * 256 + low);
    assert.equal(snapshot.wallHi, 0);
  });

  test("stats describe the current state", () => {
    const ids = new Generator({ testClock: () => NOW, sequenceMin: 10 });
    const tick = (NOW - START_2010) / 4;
    const none = { sequenceMin: 10, sequenceMax: 65_535, wallSafe: 0, drifts: 0, closed: false, now: tick };
    assert.deepEqual(ids.stats(), { ...none, partition: undefined, sequence: 10, len: 0, wallHi: 0 });
    const { partition } = sno.parse(ids.generateMany(3).at(0));
    assert.deepEqual(ids.stats(), { ...none, partition, sequence: 12, len: 3, wallHi: tick });
  });

  test("a waiting call reports stalls, and exceptions of the callback propagate", () => {
    const stalls = [];
    const onStall = (stall) => stalls.push(stall);
    const ids = smallGenerator(scriptedClock(NOW, NOW, NOW + 1.5, NOW + 4), { maxWait: 1000, onStall });
    ids.generateMany(4);
    assert.equal(sno.parse(ids.generate()).unixMs, NOW + 4);
    const [{ sleptMs: none, ...first }, { sleptMs, ...second }] = stalls;
    assert.deepEqual(first, { reason: "sequence_exhausted", unixMs: NOW, stalled: 1 });
    assert.deepEqual(second, { reason: "sequence_exhausted", unixMs: NOW + 1, stalled: 1 });
    assert(none === 0 && sleptMs >= 4, `${none}, ${sleptMs}`);
    assert.equal(stalls.length, 2);
    for (const thrown of [new Error("no time"), undefined, null, 0]) {
      let now = NOW;
      const onStall = () => {
        throw thrown;
      };
      const impatient = smallGenerator(() => now, { maxWait: 4, onStall });
      impatient.generateMany(4);
      for (const call of [() => impatient.generate(), () => impatient.generateMany(2)])
        assert.throws(call, (error) => error === thrown);
      now += 4;
      assert.equal(sno.parse(impatient.generate()).sequence, 0);
    }
  });

  test("a stall callback can call its generator, and receives the system time without a clock", () => {
    let now = NOW;
    let inner;
    const onStall = () => {
      now += 4;
      inner ??= ids.generate();
    };
    const ids = smallGenerator(() => now, { maxWait: 4, onStall });
    assert.equal(new Set([...ids.generateMany(4), ids.generate(), inner]).size, 6);
    const times = [];
    smallGenerator(undefined, { maxWait: undefined, onStall: ({ unixMs }) => times.push(unixMs) }).generateMany(40);
    assert(times.length > 0 && times.every((unixMs) => Math.abs(Date.now() - unixMs) < 60_000), `${times}`);
  });

  test("thousands of generators can be created and collected", async () => {
    for (let round = 0; round < 20; round++) {
      const many = Array.from({ length: 1000 }, (_, partition) => new Generator({ partition, testClock: Date.now }));
      many.forEach(({ generate }, partition) => assert.equal(sno.parse(generate()).partition, partition));
      await new Promise(setImmediate);
    }
  });
});
