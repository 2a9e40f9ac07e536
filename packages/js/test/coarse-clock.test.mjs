// Tests clocks that advance in steps of 100 ms, as in browsers that resist fingerprinting. A rejected call must report
// a time at which it would succeed, and a waiting call must return its IDs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createRealm, requireIn } from "./realm.mjs";

/** The steps in milliseconds: of browsers that resist fingerprinting, and of 60 and 30 frames per second. */
const STEPS = [100, 16, 1000 / 60, 33, 100 / 3];
/** The step that the package assumes until it has observed one, plus the milliseconds by which a step is rounded up. */
const MAX_ASSUMED_STEP = 101;
/** The longest tick of the formats here, in milliseconds. A call that is rejected continues in the next tick. */
const MAX_TICK = 4;

/** Returns a clock that advances in steps. Times are rounded down to whole milliseconds, as by `Date.now`. */
function steppingClock(step) {
  const floorToStep = (ms) => Math.floor(ms / step) * step;
  return {
    now: () => Math.floor(floorToStep(Date.now())),
    elapsed: () => floorToStep(globalThis.performance.now()),
  };
}

/** Loads the package in a simulated page whose clocks advance in steps and whose thread cannot sleep. */
function page({ now, elapsed }) {
  const performance = { now: elapsed };
  const globals = { crypto, Date: { now }, performance, setTimeout, clearTimeout, SharedArrayBuffer: undefined };
  return requireIn(createRealm(globals), "wasm");
}

/** Returns the error that a call throws. */
function errorOf(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  assert.fail("expected an error");
}

/**
 * Generators with 4,096 IDs per tick of 1 ms, and with 65,536 IDs per tick of 4 ms. A page can use up all these IDs
 * within one step of the clock.
 */
const GENERATORS = {
  twitter: ({ layout: { Generator, Layout } }) => new Generator(Layout.preset("twitter", { datacenter: 1, worker: 2 })),
  discord: ({ layout: { Generator, Layout } }) => new Generator(Layout.preset("discord", { worker: 1, process: 2 })),
  sno: ({ sno }) => new sno.Generator({ partition: 1 }),
};
const BATCH_SIZES = { twitter: 4096, discord: 4096, sno: 65_536 };

for (const [family, generator] of Object.entries(GENERATORS))
  for (const step of STEPS) {
    const clock = steppingClock(step);
    test(`${family}, ${step} ms: a rejected call succeeds at its retryAt`, async () => {
      const ids = generator(page(clock));
      for (let tries = 0, rejected = 0; rejected < 4; tries++) {
        assert(tries < 40, "expected four rejections");
        const start = clock.now();
        const error = errorOf(() => {
          while (clock.now() === start) ids.generateMany(BATCH_SIZES[family]);
          throw new Error("the step was over before its IDs were");
        });
        if (error.code === undefined) continue;
        assert.equal(error.code, "sequence_exhausted");
        rejected += 1;
        assert(error.retryAt >= start + step, `${error.retryAt - start} ms`);
        const latest = clock.now() + MAX_ASSUMED_STEP + MAX_TICK;
        assert(error.retryAt <= latest, `${error.retryAt - clock.now()} ms`);
        if (step === 100) assert.equal(error.retryAt % step, 0, `${error.retryAt}`);
        await sleep(Math.max(0, error.retryAt - Date.now()) + 1);
        ids.generateMany(1);
      }
    });

    test(`${family}, ${step} ms: a call that waits gets its IDs`, async () => {
      const ids = generator(page(clock));
      const count = 2 * BATCH_SIZES[family] + 1;
      assert.equal((await ids.generateManyAsync(count)).length, count);
    });
  }

test("a thread that cannot sleep names the time and the call that waits", async () => {
  const clock = steppingClock(100);
  const { message } = errorOf(() => GENERATORS.sno(page(clock)).generateMany(1));
  assert.match(message, /: this thread cannot sleep until \d+ ms, await generateManyAsync, which waits$/);
});

test("errors soon report the next millisecond of a clock without steps", () => {
  const { layout } = page({ now: Date.now, elapsed: () => performance.now() });
  const discord = layout.Layout.preset("discord", { worker: 1, process: 2 });
  const ids = new layout.Generator(discord, { onExhausted: "error" });
  // A thread that the system interrupts sees a longer step.
  const waits = Array.from({ length: 100 }, () => {
    const error = errorOf(() => {
      for (let tries = 0; tries < 1000; tries++) ids.generateMany(100_000);
    });
    assert.equal(error.code, "sequence_exhausted");
    return error.retryAt - Date.now();
  });
  assert(Math.min(...waits) <= 1, `${waits}`);
});
