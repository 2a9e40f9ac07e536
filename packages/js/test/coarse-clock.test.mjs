// Tests clocks that advance in steps of 100 ms, as in browsers that resist fingerprinting. A rejected call must report
// a time at which it would succeed, and a waiting call must return its IDs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createRealm, requireIn } from "./realm.mjs";

const STEP = 100;
const floorToStep = (ms) => Math.floor(ms / STEP) * STEP;
const now = () => floorToStep(Date.now());

/** Loads the package in a simulated page whose clocks advance in steps and whose thread cannot sleep. */
function page() {
  const performance = { now: () => floorToStep(globalThis.performance.now()) };
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
  layout: ({ layout: { Generator, Layout } }) => new Generator(Layout.preset("twitter", { datacenter: 1, worker: 2 })),
  sno: ({ sno }) => new sno.Generator({ partition: 1 }),
};
const BATCH_SIZES = { layout: 4096, sno: 65_536 };

for (const [family, generator] of Object.entries(GENERATORS)) {
  test(`${family}: a rejected call succeeds at its retryAt`, async () => {
    const ids = generator(page());
    for (let tries = 0, rejected = 0; rejected < 2; tries++) {
      assert(tries < 10, "expected two rejections");
      const start = now();
      const error = errorOf(() => {
        while (now() === start) ids.generateMany(BATCH_SIZES[family]);
        throw new Error("the step was over before its IDs were");
      });
      if (error.code === undefined) continue;
      assert.equal(error.code, "sequence_exhausted");
      rejected += 1;
      assert.match(error.message, /: this thread cannot sleep until \d+ ms, await generateManyAsync, which waits$/);
      assert.equal(error.retryAt % STEP, 0, `${error.retryAt}`);
      assert(error.retryAt <= now() + STEP);
      await sleep(Math.max(0, error.retryAt - Date.now()) + 1);
      ids.generateMany(1);
    }
  });

  test(`${family}: a call that waits gets its IDs`, async () => {
    const ids = generator(page());
    assert.equal((await ids.generateManyAsync(2 * BATCH_SIZES[family] + 1)).length, 2 * BATCH_SIZES[family] + 1);
  });
}
