// Tests calls that never wait. They return the available IDs, possibly fewer than requested, or throw an error.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertError, NOW, scriptedClock } from "./assertions.mjs";
import { exhaustTick, familiesOf } from "./families.mjs";
import { onEachMachine } from "./machines.mjs";

/** With these options, blocking calls would wait for an hour, and `onStall` would fail the test. */
const LONG_WAIT = {
  onExhausted: "wait",
  maxWait: 3_600_000,
  onStall: () => assert.fail("it waits"),
};

onEachMachine((polyflake) => {
  for (const [name, family] of Object.entries(familiesOf(polyflake)))
    describe(name, () => {
      const { make, tickMs, Many, about, read } = family;

      test("try calls return the available IDs, report the retry time and continue in the next tick", () => {
        let now = NOW;
        const ids = make(1, { ...LONG_WAIT, testClock: () => now });
        exhaustTick(ids, family, 3);
        const one = ids.tryGenerate(...about);
        const some = ids.tryGenerateMany(1, ...about);
        const rest = ids.tryGenerateMany(7000, ...about);
        assert(some instanceof Many && rest instanceof Many);
        assert.deepEqual([some.length, rest.length, ids.tryGenerateMany(0).length], [1, 1, 0]);
        const made = [one, ...some, ...rest];
        for (const id of made) assert.equal(read(ids, id).about, about[0]?.shard ?? about[0]);
        assert.equal(new Set(made.map(String)).size, 3);
        const packed = rest.bytes ?? rest.ids ?? rest.packed;
        assert.equal(packed.buffer.byteLength, packed.byteLength, "no memory is kept for what is not there");
        assertError("sequence_exhausted", () => ids.tryGenerate(), { retryAt: NOW + tickMs });
        assert.equal(ids.tryGenerateMany(5).length, 0);
        now += tickMs;
        assert.equal(read(ids, ids.tryGenerate()).unixMs, now);
      });

      test("all other errors are thrown", () => {
        const cause = new RangeError("theirs");
        const clock = () => {
          throw cause;
        };
        const broken = make(1, { ...LONG_WAIT, testClock: clock });
        assertError("clock_failed", () => broken.tryGenerateMany(2), { cause });
        assertError("out_of_range", () => broken.tryGenerateMany((1 << 24) + 1), { field: "count" });
        const closed = make(1, LONG_WAIT);
        closed.close();
        assertError("generator_closed", () => closed.tryGenerate());
        assertError("generator_closed", () => closed.tryGenerateMany(2));
      });

      // These formats continue in the highest tick that they have observed, so they never wait for a clock that is
      // behind.
      if (name === "hotguid" || name === "uuid7") return;

      test("try calls do not wait for a clock that is behind", () => {
        // sno follows the first clock rollback immediately.
        const steps = name === "sno" ? [NOW, NOW - 8, NOW, NOW - 4] : [NOW, NOW - 5000];
        const ids = make(1, { ...LONG_WAIT, testClock: scriptedClock(...steps) });
        for (const _ of steps.slice(1)) ids.tryGenerate();
        assertError("clock_behind", () => ids.tryGenerate());
        assert.equal(ids.tryGenerateMany(3).length, 0);
      });
    });

  test("invalid arguments are rejected, and Randflakes are strings on request", () => {
    const { hotguid, randflake, sno } = polyflake;
    const { layout, randflake: flakes } = familiesOf(polyflake);
    const ids = new sno.Generator({ metabyte: 9 });
    assert.deepEqual([ids.tryGenerate(), ...ids.tryGenerateMany(1)].map(sno.metabyte), [9, 9]);
    for (const call of [() => ids.tryGenerate(256), () => ids.tryGenerateMany(0, 256)])
      assertError("out_of_range", call, { field: "metabyte" });
    assertError("out_of_range", () => new hotguid.Generator().tryGenerate(-1), { field: "shardKey" });
    const open = layout.make(undefined);
    assertError("missing_field", () => open.tryGenerate(), { field: "shard" });
    const { read, make } = flakes;
    const generator = make(7);
    generator.generate(); // waits for the first second
    assert.equal(read(generator, randflake.decodeText(generator.tryGenerateText())).node, 7);
  });
});
