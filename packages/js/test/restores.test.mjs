// Tests processes that were restored from an image of their memory. Each test runs in a separate process, because
// reporting a restore affects all generators in the process. tests/packaging/js/lease tests leases.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

/** Runs a script in a new Node process, and parses its output as JSON. */
function runScript(source, ...parameters) {
  const options = { encoding: "utf8", cwd: new URL(".", import.meta.url) };
  const flags = ["--input-type=module", "--eval", source, ...parameters];
  return JSON.parse(execFileSync(process.execPath, flags, options));
}

/** Helper functions that are prepended to the scripts. */
const SCRIPT_PRELUDE = `
  const codeOf = (call) => { try { call(); return "none"; } catch ({ code, message }) { return code ?? message; } };
  const grant = (randflake, node) => new randflake.Grant(node, 1_730_000_000, 2_803_741_824);
  const secret = new Uint8Array(16);
  const discord = (layout, worker) => new layout.Generator(layout.Layout.preset("discord", { worker, process: 0 }));
  const anyTime = [new Date("2020-01-01"), new Date("2060-01-01")];
  /** Generators with explicit worker IDs or windows, by format. */
  const explicit = ({ sno, hotguid, layout, randflake, uuid7 }, number) => [
    new sno.Generator({ partition: number }),
    new sno.Generator({ window: anyTime }),
    new hotguid.Generator({ window: anyTime }),
    new uuid7.Generator({ workerId: number }),
    new uuid7.Generator({ window: anyTime }),
    new randflake.Generator(grant(randflake, number), secret),
    discord(layout, number),
  ];
  const machineOf = (hotguid, ids = hotguid) => Buffer.from(hotguid.parts(ids.generate()).machine).toString("hex");
  const partitionOf = (sno, ids = sno) => sno.parse(ids.generate()).partition;`;

for (const backend of ["native", "wasm"]) {
  describe(backend, () => {
    test("default worker IDs are assigned anew, and explicit ones are rejected", () => {
      const script = `${SCRIPT_PRELUDE}
        const polyflake = await import("polyflake/${backend}");
        const { afterRestore, hotguid, sno } = polyflake;
        const seen = [[machineOf(hotguid), partitionOf(sno)]];
        const codes = [];
        for (const number of [7, 8]) {
          const old = explicit(polyflake, number);
          for (const ids of old) ids.generate();
          if (afterRestore() !== undefined) throw new Error("expected no value");
          // After the report, the test uses the new generators first and then the old generators.
          const fresh = explicit(polyflake, 10 + number);
          codes.push(...fresh.map((ids) => codeOf(() => ids.generate())), ...old.map((ids) => codeOf(() => ids.generate())));
          codes.push(...old.map((ids) => codeOf(() => ids.generateMany(10))));
          const now = [machineOf(hotguid), partitionOf(sno)];
          if (String(now) !== String([machineOf(hotguid), partitionOf(sno)])) throw new Error("expected the same ones again");
          seen.push(now);
        }
        const distinct = (at) => new Set(seen.map((one) => one[at])).size;
        console.log(JSON.stringify([distinct(0), distinct(1), codes]));`;
      const codes = [...new Array(7).fill("none"), ...new Array(14).fill("forked")];
      assert.deepEqual(runScript(script), [3, 3, [...codes, ...codes]]);
    });

    test("a call that waits across the restore fails under an explicit partition", () => {
      const script = `${SCRIPT_PRELUDE}
        const { afterRestore, sno } = await import("polyflake/${backend}");
        let now = Date.UTC(2026, 0, 1);
        const ids = new sno.Generator({ partition: 7, sequenceMin: 0, sequenceMax: 3, testClock: () => now });
        ids.generateMany(4);
        const waits = ids.generateAsync().then(() => "none", ({ code }) => code);
        await null;
        afterRestore();
        now += 4;
        console.log(JSON.stringify(await waits));`;
      assert.equal(runScript(script), "forked");
    });

    test("restores are watched, or the error states the reason", () => {
      const script = `${SCRIPT_PRELUDE}
        const { watchRestores } = await import("polyflake/${backend}");
        console.log(JSON.stringify([codeOf(watchRestores), codeOf(watchRestores)]));
        process.exit();`;
      const [code, again] = runScript(script);
      assert.equal(code, again);
      assert((backend === "native" ? ["none", "watch_unavailable"] : ["watch_unavailable"]).includes(code));
    });

    test("a signal after a restore reports it", { skip: process.platform === "win32" }, () => {
      const script = `${SCRIPT_PRELUDE}
        const { afterRestore, sno } = await import("polyflake/${backend}");
        const before = partitionOf(sno);
        process.on("SIGUSR2", () => {
          afterRestore();
          console.log(JSON.stringify(partitionOf(sno) !== before));
          process.exit();
        });
        process.kill(process.pid, "SIGUSR2");
        setInterval(() => {}, 1000);`;
      assert(runScript(script));
    });

    test("one call reaches the threads that were started after the package was used, and those they start", () => {
      assert.deepEqual(runInThread(backend, "partitionOf(polyflake.sno);", "afterRestore();"), EXPECTED_RESULTS);
      // The threads share the restore count, even if a thread reports the restore in its first call.
      assert.deepEqual(runInThread(backend, "afterRestore();", "afterRestore();"), EXPECTED_RESULTS);
    });

    test("a call in a thread reaches the thread that started it", () => {
      assert.deepEqual(runInThread(backend, "partitionOf(polyflake.sno);", 'await ask("report");'), EXPECTED_RESULTS);
    });
  });
}

test("a report to the addon reaches threads that started before the import", () => {
  assert.deepEqual(runInThread("native", "", "afterRestore();"), EXPECTED_RESULTS);
});

test("addon generators use a new base after another thread's report", () => {
  const thread = `
    const { parentPort } = require("node:worker_threads");
    (async () => {
      const wasm = await import("polyflake/wasm");
      const native = await import("polyflake/native");
      wasm.sno.generate(); // the thread's table is now the wasm backend's table
      native.sno.generate();
      const { order } = globalThis[Symbol.for("polyflake.restores")];
      const base = () => Number(Atomics.load(order, 0) >> 32n);
      const before = base();
      parentPort.on("message", () => (native.sno.generate(), parentPort.postMessage(base() !== before)));
      parentPort.postMessage("ready");
    })();`;
  const script = `
    import { once } from "node:events";
    import { Worker } from "node:worker_threads";
    // The worker starts before this thread uses the package, so that the two threads share no memory.
    const worker = new Worker(${JSON.stringify(thread)}, { eval: true, execArgv: [] });
    await once(worker, "message");
    (await import("polyflake/native")).afterRestore();
    worker.postMessage("generate");
    console.log(JSON.stringify((await once(worker, "message"))[0]));
    process.exit();`;
  assert(runScript(script));
});

test("a request in progress sends no more statements after a report", () => {
  const script = `${SCRIPT_PRELUDE}
    const { afterRestore, sno } = await import("polyflake");
    const { lease } = await import("polyflake/lease");
    const sent = [];
    const clients = [];
    /**
     * Returns a mock pg client whose server returns its version and no other rows. The client reports a restore while
     * the first statement after the version, which begins a transaction, is in progress.
     */
    const connect = async () => {
      const client = { on() {}, off() {}, release: (isLost) => (client.isLost = isLost) };
      const at = clients.push(client) - 1;
      client.query = async ({ text }) => {
        sent.push(at);
        if (sent.length === 2) await new Promise((resolve) => setTimeout(() => resolve(afterRestore()), 10));
        return text === "SELECT version()" ? { rows: [["PostgreSQL 15.1"]], fields: [{ dataTypeID: 25 }] } : { rows: [] };
      };
      return client;
    };
    const held = lease({ connect }, "orders", { waitMs: 300 });
    new sno.Generator({ lease: held });
    const code = await held.ready().catch(({ code }) => code);
    const { length } = sent.filter((at) => at === 0);
    console.log(JSON.stringify([code, length, clients[0].isLost, sent.length > 3]));
    process.exit();`;
  assert.deepEqual(runScript(script), ["lease_unavailable", 2, true, true]);
});

for (const backend of ["native", "wasm"]) {
  test(`a report in ${backend} at the end of the stack throws, or reaches all generators`, () => {
    const script = `${SCRIPT_PRELUDE}
      const { afterRestore, sno } = await import("polyflake/${backend}");
      /**
       * Recurses until the stack overflows, and then makes the call at the deepest level and at each outer level until
       * the call succeeds.
       */
      const callNearOverflow = (call) => {
        try {
          callNearOverflow(call);
        } catch {
          call();
        }
      };
      const outcomes = new Set();
      for (let round = 0; round < 20; round++) {
        const [old, before] = [new sno.Generator({ partition: 7 }), partitionOf(sno)];
        old.generate();
        callNearOverflow(afterRestore);
        outcomes.add(codeOf(() => old.generate()));
        outcomes.add(partitionOf(sno) !== before);
      }
      console.log(JSON.stringify([...outcomes]));`;
    assert.deepEqual(runScript(script), ["forked", true]);
  });
}

/**
 * The expected results of a thread: its default worker IDs are new, and its generators with an explicit worker ID or
 * window fail with `forked`.
 */
const EXPECTED_RESULTS = [true, true, ...new Array(7).fill("forked")];

/**
 * Runs `prepare` in the main thread, starts a thread that generates IDs, runs `report` in the main thread, and returns
 * the results of further calls in the thread.
 */
function runInThread(backend, prepare, report) {
  const thread = `
    ${SCRIPT_PRELUDE}
    const { parentPort } = require("node:worker_threads");
    import("polyflake/${backend}").then((polyflake) => {
      const { afterRestore, hotguid, sno } = polyflake;
      const before = [machineOf(hotguid), partitionOf(sno)];
      const old = explicit(polyflake, 7);
      for (const ids of old) ids.generate();
      parentPort.on("message", (asked) => {
        if (asked === "report") return afterRestore(), parentPort.postMessage("done");
        const now = [machineOf(hotguid), partitionOf(sno)];
        const differ = now.map((one, k) => one !== before[k]);
        parentPort.postMessage([...differ, ...old.map((ids) => codeOf(() => ids.generate()))]);
      });
      parentPort.postMessage("ready");
    });`;
  return runScript(`${SCRIPT_PRELUDE}
    import { once } from "node:events";
    import { Worker } from "node:worker_threads";
    const polyflake = await import("polyflake/${backend}");
    const { afterRestore } = polyflake;
    ${prepare}
    const worker = new Worker(${JSON.stringify(thread)}, { eval: true, execArgv: [] });
    await once(worker, "message");
    const ask = async (what) => (worker.postMessage(what), (await once(worker, "message"))[0]);
    const [here, before] = [new polyflake.sno.Generator({ partition: 9 }), partitionOf(polyflake.sno)];
    here.generate();
    ${report}
    if (codeOf(() => here.generate()) !== "forked" || partitionOf(polyflake.sno) === before) throw new Error("not reached here");
    console.log(JSON.stringify(await ask("generate")));
    process.exit();`);
}

describe("copies of the package", () => {
  for (const [first, second] of [
    ["native", "wasm"],
    ["wasm", "native"],
  ]) {
    for (const caller of [first, second]) {
      test(`${first} and ${second} on one thread are reached by a call of ${caller}`, () => {
        const script = `${SCRIPT_PRELUDE}
          const both = [await import("polyflake/${first}"), await import("polyflake/${second}")];
          const found = () => both.flatMap(({ hotguid, sno }) => [machineOf(hotguid), partitionOf(sno)]);
          const [old, before] = [both.flatMap((one, k) => explicit(one, 7 + k)), found()];
          for (const ids of old) ids.generate();
          (await import("polyflake/${caller}")).afterRestore();
          const after = found();
          const codes = old.map((ids) => codeOf(() => ids.generate()));
          console.log(JSON.stringify([after.map((one, k) => one !== before[k]), after[1] !== after[3], codes]));`;
        assert.deepEqual(runScript(script), [new Array(4).fill(true), true, new Array(14).fill("forked")]);
      });
    }
  }

  test("a second addon in another folder is reached", () => {
    const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
    try {
      for (const part of ["dist", "prebuilds", "package.json"])
        cpSync(new URL(`../${part}`, import.meta.url), join(folder, part), { recursive: true });
      const paths = [createRequire(import.meta.url).resolve("polyflake/native"), join(folder, "dist/cjs/native.js")];
      for (const [one, other] of [paths, paths.toReversed?.() ?? [...paths].reverse()]) {
        const script = `${SCRIPT_PRELUDE}
          const [{ default: caller }, { default: other }] = [await import(${JSON.stringify(one)}), await import(${JSON.stringify(other)})];
          const ids = [caller, other].map(({ sno }) => new sno.Generator({ partition: 7 }));
          for (const one of ids) one.generate();
          caller.afterRestore();
          console.log(JSON.stringify([caller.PolyflakeError !== other.PolyflakeError, ...ids.map((one) => codeOf(() => one.generate()))]));`;
        assert.deepEqual(runScript(script), [true, "forked", "forked"]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("in wasm", () => {
  /** Makes all random bytes predictable, so that two processes behave like two copies of one process. */
  const COPY = `
    let [state, from] = [1, 0];
    const getRandomValues = (bytes) => bytes.map(() => (state = (state * 48_271) % 0x7fffffff) ^ from);
    Object.defineProperty(globalThis, "crypto", { value: { getRandomValues } });
    let now = Date.UTC(2026, 0, 1);
    const clock = () => now;`;

  /**
   * Returns the IDs that a copy generates after a restore, and the partition of the copy's first generator. `report` is
   * the code that reports the restore, if any. After the restore, the copy's random bytes are XORed with `from`.
   */
  const copy = (from, report) =>
    runScript(`${SCRIPT_PRELUDE} ${COPY}
      const { afterRestore, hotguid, sno, uuid7 } = await import("polyflake/wasm");
      const ids = [...Array.from({ length: 20 }, () => new sno.Generator({ testClock: clock })), new hotguid.Generator({ testClock: clock }), new uuid7.Generator({ testClock: clock })];
      for (const one of ids) one.generate();
      from = ${from};
      ${report}
      now += 4000;
      console.log(JSON.stringify([ids.map((one) => one.generate()), sno.parse(ids[0].generate()).partition]));`);

  test("two copies that both report differ in all their generators", () => {
    assert.deepEqual(copy(1, "")[0].slice(0, 20), copy(2, "")[0].slice(0, 20));
    const [one, other] = [copy(1, "afterRestore();"), copy(2, "afterRestore();")];
    const made = new Set([...one[0], ...other[0]]);
    assert.equal(made.size, 44);
    // The copies assign partitions in different orders, so a generator has different partitions in the two copies.
    assert.notEqual(one[1], other[1]);
  });

  test("two copies whose `crypto` draws the same bytes differ if the kernel has some", {
    skip: !existsSync("/dev/urandom"),
  }, () => {
    assert.deepEqual(copy(0, ""), copy(0, ""));
    const [one, other] = [copy(0, "afterRestore();"), copy(0, "afterRestore();")];
    assert.equal(new Set([...one[0], ...other[0]]).size, 44);
    assert.notEqual(one[1], other[1]);
  });

  test("bytes that were drawn before a restore are not provided after it", () => {
    const script = `${SCRIPT_PRELUDE}
      const { afterRestore, hotguid } = await import("polyflake/wasm");
      const ids = new hotguid.Generator();
      process.getBuiltinModule = undefined; // hides the kernel's random bytes, so that only the bytes below are used
      const drawn = [];
      crypto.getRandomValues = (bytes) => {
        if (bytes.length === 8 && drawn.push(0) === 1) afterRestore();
        return bytes.fill(drawn.length);
      };
      console.log(JSON.stringify([hotguid.parts(ids.generate()).machine.every((byte) => byte === 2), drawn.length]));`;
    assert.deepEqual(runScript(script), [true, 2]);
  });

  test("a Hot Guid call that waits across a restore continues with new bytes", () => {
    const script = `${SCRIPT_PRELUDE}
      const { afterRestore, hotguid } = await import("polyflake/wasm");
      let now = Date.UTC(2026, 0, 1);
      const ids = new hotguid.Generator({ testClock: () => now });
      const before = machineOf(hotguid, ids);
      while (ids.tryGenerateMany(1 << 22).length > 0);
      const waits = ids.generateAsync().then((id) => machineOf(hotguid, { generate: () => id }), ({ code }) => code);
      await null;
      afterRestore();
      now += 1000;
      const after = await waits;
      console.log(JSON.stringify([/^[0-9a-f]{10}$/.test(after), after !== before]));`;
    assert.deepEqual(runScript(script), [true, true]);
  });

  test("without random bytes the call fails, and default worker IDs are assigned once there are some", () => {
    const script = `${SCRIPT_PRELUDE}
      const { afterRestore, hotguid, sno } = await import("polyflake/wasm");
      const [old, before] = [new sno.Generator({ partition: 7 }), [machineOf(hotguid), partitionOf(sno)]];
      old.generate();
      const random = crypto.getRandomValues;
      crypto.getRandomValues = () => { throw new Error("not here"); };
      const codes = [afterRestore, () => old.generate(), () => sno.generate(), () => hotguid.generate()].map(codeOf);
      crypto.getRandomValues = random;
      const after = [machineOf(hotguid), partitionOf(sno)];
      console.log(JSON.stringify([codes, after.map((one, k) => one !== before[k])]));`;
    const none = "entropy_unavailable";
    assert.deepEqual(runScript(script), [
      [none, "forked", none, none],
      [true, true],
    ]);
  });

  test("a module that is loaded after the report begins with the current count", () => {
    const script = `${SCRIPT_PRELUDE}
      const polyflake = await import("polyflake/wasm");
      polyflake.afterRestore();
      const ids = explicit(polyflake, 7);
      console.log(JSON.stringify(ids.map((one) => codeOf(() => (one.generate(), one.generate())))));`;
    assert.deepEqual(runScript(script), new Array(7).fill("none"));
  });

  test("the base of a restore that another thread reported meanwhile is never used", () => {
    // The first call to `afterRestore` has picked a base but not stored it yet when a second call replaces the base.
    // The first call therefore picks another base. It then picks a third base because a generator picked a partition in
    // the meantime.
    const script = `${SCRIPT_PRELUDE}
      const { afterRestore, sno } = await import("polyflake/wasm");
      sno.generate();
      process.getBuiltinModule = undefined; // otherwise, the kernel's bytes would be mixed with the bytes below
      const { order } = globalThis[Symbol.for("polyflake.restores")];
      const base = () => Number((Atomics.load(order, 0) >> 32n) & 0xffffn);
      const before = partitionOf(sno);
      const during = [];
      const draws = [0x1111, 0x2222, 0x3333, 0x4444];
      let [depth, isGenerating] = [0, false];
      const random = crypto.getRandomValues;
      crypto.getRandomValues = (bytes) => {
        if (isGenerating) return random.call(crypto, bytes);
        const drawn = draws.shift();
        isGenerating = true;
        // The restore count increases only after the base has been replaced, so this generator does not pick a
        // partition based on the old base.
        during.push(partitionOf(sno) === before);
        isGenerating = false;
        if (depth++ === 0) afterRestore();
        bytes.set([drawn >> 8, drawn & 255]);
        return bytes;
      };
      afterRestore();
      console.log(JSON.stringify([base(), draws.length, during]));`;
    assert.deepEqual(runScript(script), [0x4444, 0, [true, true, false, false]]);
  });
});

test("afterRestore fails without its backend but still reaches the other one", () => {
  const script = `${SCRIPT_PRELUDE}
    import { createRequire } from "node:module";
    const { sno } = await import("polyflake/wasm");
    const ids = new sno.Generator({ partition: 7 });
    ids.generate();
    process.env.POLYFLAKE_BACKEND = "none";
    const { afterRestore } = await import("polyflake");
    console.log(JSON.stringify([codeOf(afterRestore), codeOf(() => ids.generate())]));`;
  assert.deepEqual(runScript(script), ["out_of_range", "forked"]);
});
