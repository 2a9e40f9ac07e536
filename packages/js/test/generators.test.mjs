// Generators under scripted clocks: uniqueness, waiting, windows, snapshots.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { onEachMachine } from "./machines.mjs";
import { NOW, refused, scripted } from "./refusals.mjs";

const START_2010 = Date.UTC(2010, 0, 1);
const END = 3461327255552;

onEachMachine(({ sno }) => {
  const { Generator } = sno;
  /** A generator with 4 sequences in a tick and a scripted clock. */
  const small = (clock, more = {}) => new Generator({ partition: 1, sequenceMax: 3, clock, maxWait: 0, ...more });

  test("an ID has what its generator has", () => {
    const ids = new Generator({ partition: new Uint8Array([1, 2]), metabyte: 9, sequenceMin: 5, clock: () => NOW + 3 });
    const fields = { unixMs: NOW, timestamp: new Date(NOW), tick: (NOW - START_2010) / 4, tickTock: false };
    assert.deepEqual(sno.parse(ids.generate()), { ...fields, metabyte: 9, partition: 258, sequence: 5 });
    assert.deepEqual(sno.parse(ids.generate(0)), { ...fields, metabyte: 0, partition: 258, sequence: 6 });
    assert.deepEqual(sno.parse(ids.generate(255)), { ...fields, metabyte: 255, partition: 258, sequence: 7 });
    assert.equal(ids.partition, 258);
  });

  test("-0 is 0", () => {
    const ids = new Generator({ partition: -0, sequenceMin: -0, metabyte: -0, clock: () => NOW });
    assert.deepEqual(sno.parse(ids.generate(-0)).metabyte, 0);
    assert.equal(sno.parse(ids.generate()).partition, 0);
  });

  test("generate may be taken off its generator", () => {
    const { generate } = new Generator({ partition: 3 });
    assert.equal(sno.parse(generate(4)).partition, 3);
  });

  test("the shared generator makes distinct IDs in order", () => {
    const ids = Array.from({ length: 100_000 }, () => sno.generate(7));
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(ids.toSorted?.() ?? [...ids].sort(), ids);
    assert(ids.every((id) => sno.metabyte(id) === 7));
  });

  test("a batch is what single calls would be", () => {
    const options = { partition: 1, clock: () => NOW };
    const [one, many] = [new Generator(options), new Generator(options)];
    for (const count of [0, 1, 5, 1023, 1024, 1025, 5000]) {
      const array = many.generateMany(count, 3);
      const single = Array.from({ length: count }, () => one.generate(3));
      assert.equal(array.length, count);
      assert.equal(array.bytes.length, 10 * count);
      assert.deepEqual(array.texts(), single);
      assert.deepEqual([...array], single);
      assert.equal(array.at(0), single[0]);
      assert.equal(array.at(-1), single.at(-1));
      assert.equal(array.at(count), undefined);
      assert.equal(array.at(-count - 1), undefined);
    }
  });

  test("a batch past a tick goes on in the next, and says how far it came where it can't", () => {
    const ids = new Generator({ partition: 1, clock: () => NOW, maxWait: 0 });
    const { retryAt } = refused("sequence_exhausted", () => ids.generateMany(65_537), { written: 65_536 });
    assert.equal(retryAt, NOW + 4);
    const real = new Generator({ partition: 1 }).generateMany(150_000);
    assert.equal(new Set(real).size, 150_000);
  });

  test("the pool's end is an error in time, and the next tick is usable", () => {
    for (const onExhausted of ["wait", "error"]) {
      let now = NOW;
      const ids = small(() => now, { onExhausted });
      ids.generateMany(4);
      refused("sequence_exhausted", () => ids.generate(), { retryAt: NOW + 4 });
      now = NOW + 4;
      assert.equal(sno.parse(ids.generate()).sequence, 0);
    }
  });

  test("waiting lasts a tick, not for ever, and a clock that stands still ends it", () => {
    const before = Date.now();
    const ids = new Generator({ partition: 1, sequenceMax: 3, clock: () => NOW });
    ids.generateMany(4);
    refused("sequence_exhausted", () => ids.generate());
    assert(Date.now() - before < 1000);
    const waiting = new Generator({ partition: 2, sequenceMax: 3 });
    assert.equal(new Set(waiting.generateMany(12)).size, 12);
  });

  test("the clock may step back once, and further back it is behind", () => {
    let now = NOW;
    const ids = small(() => now);
    const first = ids.generate();
    now = NOW - 4000;
    const second = ids.generate();
    assert.deepEqual(
      [first, second].map((id) => sno.parse(id).tickTock),
      [false, true],
    );
    now = NOW - 8000;
    refused("clock_behind", () => ids.generate(), { retryAt: NOW - 4000 });
    assert.equal(ids.stats().drifts, 1);
    now = NOW + 4;
    assert.equal(sno.parse(ids.generate()).tickTock, true);
  });

  test("no reading that is no time gets through", () => {
    const thrown = new Error("the clock's own");
    const raise = () => {
      throw thrown;
    };
    const ids = small(
      scripted(NOW, NaN, Infinity, -Infinity, raise, undefined, null, "0", 0n, {}, Symbol("s"), new Date(), NOW),
    );
    const first = ids.generate();
    for (const reading of [NaN, Infinity, -Infinity])
      assert(!("cause" in refused("clock_failed", () => ids.generate())), `${reading}`);
    refused("clock_failed", () => ids.generate(), { cause: thrown });
    for (const reading of ["undefined", "null", "string", "bigint", "Object", "symbol", "Date"]) {
      const { cause, message } = refused("clock_failed", () => ids.generate());
      assert.equal(cause.code, "invalid_type");
      assert.match(message, new RegExp(`found ${reading}$`));
    }
    const next = ids.generate();
    assert.equal(sno.parse(next).sequence, sno.parse(first).sequence + 1, "refused calls changed something");
  });

  test("a clock that throws what is no error is quoted as it is", () => {
    for (const cause of [null, 0, "text"]) {
      const ids = small(() => {
        throw cause;
      });
      refused("clock_failed", () => ids.generate(), { cause });
    }
  });

  test("readings outside the format's time are said to be", () => {
    for (const reading of [
      -1,
      0,
      START_2010 - 1,
      END,
      Date.UTC(9999, 0, 1),
      2 ** 53,
      1e300,
      -1e300,
      Number.MAX_VALUE,
    ]) {
      const ids = small(() => reading);
      refused("time_out_of_range", () => ids.generate());
    }
    // In milliseconds, the unit of these clocks.
    const message = `expected clock from ${START_2010} to ${END - 1}, found 1763650000`;
    refused("time_out_of_range", () => small(() => 1_763_650_000).generate(), { field: "clock", message });
    assert.equal(sno.parse(small(() => START_2010).generate()).tick, 0);
    assert.equal(sno.parse(small(() => END - 1).generate()).tick, 2 ** 39 - 1);
    assert.equal(sno.parse(small(() => NOW + 3.99).generate()).unixMs, NOW);
  });

  test("oscillating clocks repeat nothing", () => {
    const readings = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(readings, (ticks) => {
        const ids = small(scripted(...ticks.map((tick) => NOW + 4 * tick)));
        const made = ticks.flatMap(() => {
          try {
            return [ids.generate()];
          } catch (error) {
            assert.match(error.code, /^(sequence_exhausted|clock_behind)$/);
            return [];
          }
        });
        assert.equal(new Set(made).size, made.length);
      }),
    );
  });

  test("a clock may call its own generator and other ones", () => {
    const made = [];
    let depth = 0;
    const ids = new Generator({
      partition: 1,
      clock() {
        if (depth++ < 5) made.push(ids.generate(), ...ids.generateMany(3), sno.generate());
        depth--;
        ids.generateAt(NOW);
        return NOW;
      },
    });
    made.push(ids.generate());
    assert(made.length > 20);
    assert.equal(new Set(made).size, made.length);
  });

  test("a clock may close its generator under the call", () => {
    let snapshot;
    const ids = new Generator({
      partition: 1,
      clock() {
        snapshot ??= ids.close();
        return NOW;
      },
    });
    refused("generator_closed", () => ids.generate());
    assert.equal(snapshot.wallHi, 0);
  });

  test("nested default generators keep their own partitions, also where a clock fails", () => {
    let fail = true;
    const inner = new Generator({
      clock() {
        if (fail) throw new Error("not yet");
        return NOW;
      },
    });
    const outer = new Generator({
      clock() {
        try {
          inner.generate();
        } catch {}
        return NOW;
      },
    });
    const first = sno.parse(outer.generate()).partition;
    fail = false;
    const second = sno.parse(inner.generate()).partition;
    assert.notEqual(first, second);
    assert.equal(outer.partition, first);
    assert.equal(inner.partition, second);
  });

  test("a window holds, and moves later", () => {
    let now = NOW - 1;
    const ids = new Generator({ partition: 1, clock: () => now, window: [new Date(NOW), NOW + 8] });
    refused("lease_not_started", () => ids.generate(), { retryAt: NOW });
    now = NOW;
    assert.equal(sno.parse(ids.generate()).unixMs, NOW);
    now = NOW + 8;
    refused("lease_expired", () => ids.generate());
    ids.extendWindow(NOW + 4);
    refused("lease_expired", () => ids.generate());
    ids.extendWindow(new Date(NOW + 12));
    assert.equal(sno.parse(ids.generate()).unixMs, NOW + 8);
    refused("out_of_range", () => ids.extendWindow(NOW - 8));
    refused("time_out_of_range", () => ids.extendWindow(2 ** 53));
    for (const window of [
      [NOW, NOW],
      [NOW + 4, NOW],
    ])
      refused("out_of_range", () => new Generator({ window }));
    for (const window of [
      [0, NOW],
      [NOW, END + 1],
    ])
      refused("time_out_of_range", () => new Generator({ window }));
  });

  test("a given time has a sequence of its own", () => {
    const ids = new Generator({ partition: 1, clock: () => NOW, metabyte: 2 });
    const made = [ids.generateAt(new Date(NOW)), ids.generateAt(NOW, 5)].map(sno.parse);
    assert.deepEqual(
      made.map(({ unixMs, sequence, metabyte }) => [unixMs, sequence, metabyte]),
      [
        [NOW, 0, 2],
        [NOW, 1, 5],
      ],
    );
    assert.equal(sno.parse(ids.generate()).sequence, 0);
    for (const time of [0, START_2010 - 1, END, 2 ** 53, -1e300])
      refused("time_out_of_range", () => ids.generateAt(time));
  });

  test("a closed generator is closed, and its snapshot goes on", () => {
    let now = NOW;
    const clock = () => now;
    const ids = new Generator({ partition: 258, sequenceMin: 2, sequenceMax: 9, clock });
    const first = ids.generateMany(3);
    const snapshot = JSON.parse(JSON.stringify(ids.close()));
    assert.deepEqual(snapshot, {
      format: 1,
      partition: [1, 2],
      sequenceMin: 2,
      sequenceMax: 9,
      sequence: 4,
      now: (NOW - START_2010) / 4,
      wallHi: (NOW - START_2010) / 4,
      wallSafe: 0,
      drifts: 0,
    });
    for (const call of [
      () => ids.generate(),
      () => ids.generateMany(1),
      () => ids.generateAt(NOW),
      () => ids.close(),
    ]) {
      refused("generator_closed", call);
    }
    assert.equal(ids.stats().closed, true);
    assert.deepEqual(ids.generateMany(0).texts(), []);

    refused("out_of_range", () => Generator.restore({ ...snapshot, format: 2 }), { field: "format" });
    const { format, ...original } = snapshot;
    assert.equal(Generator.restore(original).stats().partition, 258);
    const restored = Generator.restore(snapshot, { clock, metabyte: 1 });
    const second = restored.generate();
    assert.equal(sno.parse(second).sequence, 5);
    assert.equal(sno.parse(second).metabyte, 1);
    assert(!first.texts().includes(second));
    now = NOW - 4;
    assert.equal(sno.parse(restored.generate()).tickTock, true);
    assert.equal(
      Generator.importOriginal({ ...snapshot, sequenceMin: 9, sequenceMax: 2 }, { clock }).stats().sequenceMin,
      2,
    );
    assert.equal(Generator.importOriginal({ ...snapshot, sequenceMax: 0 }, { clock }).stats().sequenceMax, 65_535);
  });

  test("an untouched default generator closes with the partition that it would have had", () => {
    const snapshot = new Generator().close();
    assert.equal(snapshot.wallHi, 0);
    const [high, low] = snapshot.partition;
    const ids = Generator.restore(snapshot);
    assert.equal(sno.parse(ids.generate()).partition, high * 256 + low);
    assert(snapshot.sequenceMin <= 32_767);
  });

  test("stats are figures of now", () => {
    const ids = new Generator({ clock: () => NOW, sequenceMin: 10 });
    const tick = (NOW - START_2010) / 4;
    const none = { sequenceMin: 10, sequenceMax: 65_535, wallSafe: 0, drifts: 0, closed: false, now: tick };
    assert.deepEqual(ids.stats(), { ...none, partition: undefined, sequence: 10, len: 0, wallHi: 0 });
    const { partition } = sno.parse(ids.generateMany(3).at(0));
    assert.deepEqual(ids.stats(), { ...none, partition, sequence: 12, len: 3, wallHi: tick });
  });

  test("a call that waits tells of it, and what the callback throws comes out", () => {
    const stalls = [];
    const clock = scripted(NOW, NOW, NOW + 1.5, NOW + 4);
    const ids = new Generator({
      partition: 1,
      sequenceMax: 3,
      clock,
      maxWait: 1000,
      onStall: (stall) => stalls.push(stall),
    });
    ids.generateMany(4);
    assert.equal(sno.parse(ids.generate()).unixMs, NOW + 4);
    const [{ sleptMs: none, ...first }, { sleptMs, ...second }] = stalls;
    assert.deepEqual(first, { reason: "sequence_exhausted", unixMs: NOW, stalled: 1 });
    assert.deepEqual(second, { reason: "sequence_exhausted", unixMs: NOW + 1, stalled: 1 });
    assert(none === 0 && sleptMs >= 4, `${none}, ${sleptMs}`);
    assert.equal(stalls.length, 2);
    for (const thrown of [new Error("no time"), undefined, null, 0]) {
      let now = NOW;
      const impatient = small(() => now, {
        maxWait: 4,
        onStall() {
          throw thrown;
        },
      });
      impatient.generateMany(4);
      assert.throws(
        () => impatient.generate(),
        (error) => error === thrown,
      );
      assert.throws(
        () => impatient.generateMany(2),
        (error) => error === thrown,
      );
      now += 4;
      assert.equal(sno.parse(impatient.generate()).sequence, 0);
    }
  });

  test("a callback for stalls may use its generator", () => {
    let now = NOW;
    let inner;
    const ids = small(() => now, {
      maxWait: 4,
      onStall() {
        now += 4;
        inner ??= ids.generate();
      },
    });
    const first = [...ids.generateMany(4)];
    const outer = ids.generate();
    assert.equal(new Set([...first, inner, outer]).size, 6);
  });

  test("a callback for stalls without a clock hears the system's", () => {
    const stalls = [];
    const ids = new Generator({ partition: 1, sequenceMax: 3, onStall: (stall) => stalls.push(stall) });
    assert.equal(new Set(ids.generateMany(40)).size, 40);
    assert(stalls.length > 0 && stalls.every(({ unixMs }) => Math.abs(Date.now() - unixMs) < 60_000));
    for (const onStall of [null, 0, "f", {}])
      refused("invalid_type", () => new Generator({ onStall }), { field: "onStall" });
  });

  test("a thousand generators come and go", async () => {
    for (let round = 0; round < 20; round++) {
      const many = Array.from({ length: 1000 }, (_, partition) => new Generator({ partition }));
      many.forEach(({ generate }, partition) => assert.equal(sno.parse(generate()).partition, partition));
      await new Promise(setImmediate);
    }
  });
});
