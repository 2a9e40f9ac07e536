// Tests callers' clocks that return invalid readings, throw, or call generators.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertError, NOW } from "./assertions.mjs";
import { familiesOf } from "./families.mjs";
import { onEachMachine } from "./machines.mjs";

/** Clock readings that are not numbers, keyed by the name of their type in error messages. */
const INVALID_CLOCKS = {
  undefined,
  null: null,
  boolean: true,
  string: "0",
  bigint: 0n,
  Array: [],
  Object: {},
  Date: new Date(NOW),
  Number: Object(NOW),
  symbol: Symbol("s"),
  function: () => NOW,
};

class BrokenClockError extends Error {}

/** Thrown values, with the names of their types in errors. */
const THROWN_VALUES = [
  ["TypeError", new TypeError("no")],
  ["BrokenClockError", new BrokenClockError()],
  ["string", "no"],
  ["undefined", undefined],
  ["null", null],
  ["number", 0],
  ["object", Object.create(null)],
];

const throwingClock = (thrown) => () => {
  throw thrown;
};

onEachMachine((polyflake) => {
  const { sno } = polyflake;

  for (const [family, { make, large, about }] of Object.entries(familiesOf(polyflake)))
    describe(family, () => {
      test("an invalid reading or a throwing clock fails the call without side effects", () => {
        let reading = () => NOW;
        const ids = make(1, { testClock: () => reading(), maxWait: 0 });
        const first = ids.generate();
        const before = ids.stats();
        const assertFails = (next, check) => {
          reading = next;
          for (const call of [() => ids.generate(...about), () => ids.generateMany(3), () => ids.tryGenerate()])
            check(assertError("clock_failed", call));
        };
        for (const value of [NaN, Infinity, -Infinity])
          assertFails(
            () => value,
            (error) => assert(!("cause" in error) && /finite/.test(error.message), error.message),
          );
        for (const [name, value] of Object.entries(INVALID_CLOCKS))
          assertFails(
            () => value,
            ({ cause, message }) => {
              assert.equal(cause.code, "invalid_type");
              assert.match(message, new RegExp(`found ${name}$`, "i"));
            },
          );
        for (const [name, thrown] of THROWN_VALUES)
          assertFails(throwingClock(thrown), ({ cause, message }) => {
            assert.equal(cause, thrown);
            assert.equal(message.replace("item 0: ", ""), `expected a time from the clock, found ${name}`);
          });
        reading = () => NOW;
        assert.deepEqual(ids.stats(), before);
        assert.notDeepEqual(ids.generate(), first);
      });

      test("a clock can call its own generator and others", () => {
        const made = [];
        let depth = 0;
        const ids = large({
          testClock() {
            if (depth++ < 5) made.push(ids.generate(), ...ids.generateMany(3), sno.generate());
            depth--;
            return NOW;
          },
        });
        made.push(ids.generate());
        assert(made.length > 20);
        assert.equal(new Set(made.map(String)).size, made.length);
      });
    });

  test("a clock can close its generator during the call", () => {
    let snapshot;
    const ids = new sno.Generator({
      partition: 1,
      testClock() {
        snapshot ??= ids.close();
        return NOW;
      },
    });
    assertError("generator_closed", () => ids.generate());
    assert.equal(snapshot.wallHi, 0);
  });

  test("nested default generators keep their partitions, also if a clock fails", () => {
    let fail = true;
    const inner = new sno.Generator({
      testClock() {
        if (fail) throw new Error("not yet");
        return NOW;
      },
    });
    const outer = new sno.Generator({
      testClock() {
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
    assert.deepEqual([outer.partition, inner.partition], [first, second]);
  });

  test("infinitely nested clocks end in an error with a reason", () => {
    for (const make of [(ids) => ids.generate(), (ids) => ids.generateMany(1024)]) {
      let deepest = 0;
      let depth = 0;
      const ids = new sno.Generator({
        partition: 1,
        testClock() {
          deepest = Math.max(deepest, ++depth);
          try {
            make(ids);
          } finally {
            depth--;
          }
          return NOW;
        },
      });
      let { cause } = assertError("clock_failed", () => make(ids));
      while (cause.cause) cause = cause.cause;
      assert.equal(cause.message, "expected at most 16 clocks nested in each other, found more");
      assert.equal(deepest, 16);
    }
  });
});
