// Tests calls that wait without blocking the thread.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mock, test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { assertRejects, NOW, rejection, scriptedClock } from "./assertions.mjs";
import { exhaustTick, familiesOf } from "./families.mjs";
import { onEachMachine } from "./machines.mjs";

const TEST_FOLDER = new URL(".", import.meta.url);

/** Returns the properties of an error that the tests compare. */
const errorMembers = ({ name, message, code, retryAt, written, field, cause }) => [
  ...[name, message, code, retryAt, written, field],
  cause,
];

/** Blocks the thread for a number of milliseconds. */
function block(ms) {
  const startedAt = performance.now();
  while (performance.now() < startedAt + ms);
}

onEachMachine((polyflake, machine) => {
  const { hotguid, randflake, sno } = polyflake;
  const FAMILIES = familiesOf(polyflake);

  for (const [name, family] of Object.entries(FAMILIES)) {
    const { make, perTick, leftAfter, tickMs, Many, about, read } = family;
    /** Creates a clock, and a generator whose current tick is exhausted. */
    const exhausted = (more = {}, worker = 1) => {
      const time = { now: NOW };
      const ids = make(worker, { onExhausted: "wait", maxWait: 3_600_000, testClock: () => time.now, ...more });
      exhaustTick(ids, family);
      return { ids, time };
    };

    test(`${name}: the event loop runs while a call waits`, async () => {
      const { ids: maker, time } = exhausted();
      let isDone = false;
      const one = maker.generateAsync().finally(() => (isDone = true));
      const many = maker.generateManyAsync(2);
      for (let turn = 0; turn < 3; turn++) await after(1);
      assert.equal(isDone, false);
      time.now += tickMs;
      const [first, others] = await Promise.all([one, many]);
      assert(others instanceof Many);
      assert.equal(new Set([first, ...others].map(String)).size, 3);
      assert.equal(typeof first, typeof maker.tryGenerate());
    });

    test(`${name}: a call with an available ID does not wait`, async () => {
      const fresh = () => make(1, { testClock: () => NOW, onStall: () => assert.fail("it waits") });
      const maker = fresh();
      const made = [await maker.generateAsync(...about), ...(await maker.generateManyAsync(2, ...about))];
      for (const id of made) assert.equal(read(maker, id).about, about[0]?.shard ?? about[0]);
      assert.equal(new Set([...made, maker.generate()].map(String)).size, 4);
      assert.equal((await maker.generateManyAsync(0)).length, 0);
    });

    test(`${name}: an aborted call rejects with the signal's reason`, async () => {
      const { ids: maker, time } = exhausted();
      const reason = { mine: true };
      const calls = (signal, name = "signal") => [
        maker.generateAsync(...about, { [name]: signal }),
        maker.generateManyAsync(1, ...about, { [name]: signal }),
      ];
      for (const promise of calls(AbortSignal.abort(reason))) assert.equal(await rejection(promise), reason);
      const controller = new AbortController();
      const waiting = calls(controller.signal);
      await after(1);
      // IDs are available again. The aborted calls must not have consumed any of them.
      time.now += tickMs;
      controller.abort(reason);
      for (const promise of waiting) assert.equal(await rejection(promise), reason);
      const made = maker.tryGenerateMany(perTick);
      assert.equal(made.length, 1 + leftAfter(read(maker, made.at(0)).ordinal), "nothing was taken");
      for (const signal of [7, "abort", {}, { aborted: false }, null]) {
        for (const promise of calls(signal)) await assertRejects("invalid_type", promise, { field: "signal" });
      }
      for (const promise of calls(undefined, "signals"))
        await assertRejects("unknown_field", promise, { field: "signals" });
    });

    test(`${name}: errors match those of synchronous calls`, async () => {
      const cause = new RangeError("theirs");
      const clock = () => {
        throw cause;
      };
      const closed = () => {
        const ids = make(1);
        ids.close();
        return ids;
      };
      const full = [{ onExhausted: "error" }, { maxWait: 0 }].map((more) => () => exhausted(more).ids);
      for (const maker of [() => make(1, { testClock: clock }), closed, ...(name === "hotguid" ? [] : full)]) {
        for (const [verb, ...values] of [["generate"], ["generateMany", 3]]) {
          const error = await rejection(maker()[`${verb}Async`](...values));
          const syncError = await rejection((async () => maker()[verb](...values))());
          assert.deepEqual(errorMembers(error), errorMembers(syncError));
        }
      }
      const small = make(2, { testClock: () => NOW, onExhausted: "error" });
      await assertRejects("out_of_range", small.generateManyAsync((1 << 24) + 1), { field: "count" });
      exhaustTick(small, family, 1);
      await assertRejects("sequence_exhausted", small.generateManyAsync(3), { written: 1, retryAt: NOW + tickMs });
    });

    // All Hot Guids of one second would take up 256 MiB.
    if (name === "hotguid") continue;

    test(`${name}: 100 concurrent calls make 100 IDs`, async () => {
      const { ids, time } = exhausted();
      const clockTimer = setInterval(() => (time.now += tickMs), 2);
      try {
        const made = await Promise.all(Array.from({ length: 100 }, () => ids.generateAsync()));
        assert.equal(new Set(made.map(String)).size, 100);
      } finally {
        clearInterval(clockTimer);
      }
    });

    // With a running clock, no call can use up all version 7 UUIDs of a millisecond.
    const skipUuid7 = { skip: name === "uuid7" };
    test(`${name}: a call waits at most maxWait and reports its stalls`, skipUuid7, async () => {
      const heard = [];
      // Without `resumeAfter`, or with a node that was used before, the first call would wait for the next second.
      const resumed = name === "randflake" && { resumeAfter: 1_730_000_000 };
      const onStall = (stall) => heard.push(stall);
      const { ids } = exhausted({ ...resumed, maxWait: 20, testClock: undefined, onStall }, 2);
      for (let isFull = false; !isFull; )
        isFull = ids.tryGenerateMany(perTick).length < perTick && ids.tryGenerateMany(1).length === 0;
      const begin = performance.now();
      const results = await Promise.allSettled(
        Array.from({ length: perTick === 4 ? 200 : 1 }, () => ids.generateAsync()),
      );
      assert(performance.now() - begin < 5000);
      for (const { reason } of results.filter(({ status }) => status === "rejected"))
        assert.equal(reason.code, "sequence_exhausted");
      assert(heard.length > 0);
      for (const { reason, sleptMs } of heard) assert(reason === "sequence_exhausted" && sleptMs >= 0);
      if (perTick === 4)
        assert(
          heard.some(({ stalled }) => stalled > 100),
          "the calls wait beside each other",
        );
    });

    test(`${name}: a wait is charged the elapsed time and not the requested sleeps`, async () => {
      for (const wait of [async (maker) => maker.generate(), (maker) => maker.generateAsync()]) {
        const heard = [];
        const onStall = ({ sleptMs }) => (heard.push(sleptMs), block(20));
        const { ids } = exhausted({ maxWait: 100, onStall });
        await assertRejects("sequence_exhausted", wait(ids));
        assert(heard.length <= 6, `${heard.length} stalls of 20 ms in 100 ms`);
        heard.forEach((sleptMs, stalls) => assert(sleptMs >= 20 * stalls, `${sleptMs} ms after ${stalls} stalls`));
      }
    });

    test(`${name}: exceptions of a stall callback propagate`, async () => {
      const mine = new Error("mine");
      const onStall = () => {
        throw mine;
      };
      const { ids } = exhausted({ onStall });
      assert.equal(await rejection(ids.generateAsync()), mine);
      assert.equal(await rejection(ids.generateManyAsync(2)), mine);
      const controller = new AbortController();
      const { ids: aborted } = exhausted({ onStall: () => controller.abort(mine) });
      assert.equal(await rejection(aborted.generateAsync(...about, { signal: controller.signal })), mine);
      // A later call that fails for another reason must not throw the callback's error again.
      ids.close();
      await assertRejects("generator_closed", ids.generateAsync());
    });
  }

  test("a large batch can be aborted between turns of the event loop", async () => {
    const [controller, reason] = [new AbortController(), { mine: true }];
    // Uses a call that does not wait, because a waiting call would also check the signal.
    const many = new hotguid.Generator().generateManyAsync(1_000_000, undefined, { signal: controller.signal });
    setTimeout(() => controller.abort(reason));
    assert.equal(await rejection(many), reason);
  });

  test("async calls wait for a clock that is behind", async () => {
    const ids = FAMILIES.sno.make(1, {
      maxWait: 3_600_000,
      testClock: scriptedClock(NOW, NOW - 8, NOW, NOW - 4, NOW - 4, NOW + 4),
    });
    for (let k = 0; k < 3; k++) ids.generate();
    assert.equal(typeof (await ids.generateAsync()), "string");
    const behind = FAMILIES.layout.make(1, { testClock: scriptedClock(NOW, NOW - 20, NOW - 10, NOW) });
    behind.generate();
    await assertRejects("clock_behind", behind.generateAsync(), { retryAt: NOW });
  });

  test("invalid arguments are rejected, and Randflakes are strings on request", async () => {
    const ids = new sno.Generator({ metabyte: 9 });
    assert.equal(sno.metabyte(await ids.generateAsync()), 9);
    for (const call of [ids.generateAsync(256), ids.generateManyAsync(0, 256)])
      await assertRejects("out_of_range", call, { field: "metabyte" });
    await assertRejects("missing_field", FAMILIES.layout.make(undefined).generateAsync(), { field: "shard" });
    const flakes = FAMILIES.randflake.make(7);
    assert.equal(flakes.inspect(randflake.decodeText(await flakes.generateTextAsync())).node, 7);
  });

  test("the event loop runs while many IDs are made without a wait", async () => {
    let turns = 0;
    const interval = setInterval(() => (turns += 1), 0);
    try {
      assert.equal((await new hotguid.Generator().generateManyAsync(400_000)).length, 400_000);
    } finally {
      clearInterval(interval);
    }
    assert(turns >= 3, `${turns} turns`);
  });

  test("a sleep uses the realm's current timer", async () => {
    const time = { now: NOW };
    const ids = FAMILIES.sno.make(1, { maxWait: 3_600_000, testClock: () => time.now });
    ids.generateMany(4);
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      let isDone = false;
      const id = ids.generateAsync().finally(() => (isDone = true));
      time.now += 4;
      await new Promise(setImmediate);
      assert.equal(isDone, false);
      mock.timers.tick(4);
      assert.equal(typeof (await id), "string");
    } finally {
      mock.timers.reset();
    }
    const { setTimeout } = globalThis;
    ids.tryGenerateMany(4);
    globalThis.setTimeout = undefined;
    const promise = ids.generateAsync();
    globalThis.setTimeout = setTimeout;
    await assertRejects("clock_failed", promise);
  });

  test("a wait sleeps until the next tick and removes its listener", async () => {
    const { setTimeout } = globalThis;
    const [delays, listeners] = [[], new Set()];
    globalThis.setTimeout = (run, ms) => (delays.push(ms), setTimeout(run, ms));
    const signal = {
      aborted: false,
      addEventListener: (_, listener) => listeners.add(listener),
      removeEventListener: (_, listener) => listeners.delete(listener),
    };
    try {
      let now = NOW;
      const ids = new sno.Generator({ partition: 1, sequenceMax: 3, testClock: () => now });
      ids.generateMany(4);
      const id = ids.generateAsync(undefined, { signal });
      assert.deepEqual([delays, listeners.size], [[4], 1]);
      now += 4;
      await id;
      assert.equal(listeners.size, 0);
    } finally {
      globalThis.setTimeout = setTimeout;
    }
  });

  test("a process waits for its IDs", () => {
    const script = `
      const { sno } = await import("polyflake/${machine}");
      const ids = new sno.Generator({ partition: 1, sequenceMax: 3, maxWait: 5000 });
      for (let left = 1; left > 0; ) left = ids.tryGenerateMany(4).length;
      process.exitCode = sno.isValid(await ids.generateAsync()) ? 7 : 1;
    `;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: TEST_FOLDER,
      encoding: "utf8",
    });
    assert.equal(status, 7, stderr);
  });
});
