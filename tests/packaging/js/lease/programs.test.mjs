// Tests programs as users run them: clusters, threads, restarts and faults.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { grantedWorkerIds, STORE_FACTORIES, startMaker } from "./places.mjs";

const run = promisify(execFile);

function assertDistinct(reports) {
  const ids = reports.flatMap(({ ids }) => ids);
  assert.equal(new Set(ids).size, ids.length);
}

for (const [name, createStore] of Object.entries(STORE_FACTORIES)) {
  describe(name, { concurrency: false }, () => {
    for (const kind of ["cluster", "threads"]) {
      test(`${kind}: one variable leases a worker ID for each process, which releases it`, async () => {
        const { node, url } = createStore();
        const env = { ...process.env, POLYFLAKE_LEASE: url, NODE_OPTIONS: "--import polyflake/lease --no-warnings" };
        const { stdout } = await run(node, ["fleet.mjs", kind, "9", "3"], { env, maxBuffer: 1 << 26 });
        const reports = JSON.parse(stdout);
        assert.equal(reports.length, 10);
        assertDistinct(reports);
        assert(new Set(reports.map(({ workerId }) => workerId)).size >= 4);
        assert.deepEqual(await grantedWorkerIds(url), []);
      });
    }

    test("with --import all copies of the package use one worker ID immediately", async () => {
      const { node, url } = createStore();
      const program = `
        import { hotguid, sno, uuid7 } from "polyflake";
        import * as wasm from "polyflake/wasm";
        const snos = [sno.generate(), wasm.sno.generate(), ...sno.generateMany(3), ...wasm.sno.generateMany(3)];
        sno.setDefaultGenerator(undefined);
        snos.push(sno.generate(), ...(await wasm.sno.generateManyAsync(3)));
        const guids = [hotguid.generate(), wasm.hotguid.generate(), ...wasm.hotguid.generateMany(3)];
        const uuids = [uuid7.generate(), wasm.uuid7.generate(), ...(await wasm.uuid7.generateManyAsync(3))];
        const numbers = [snos.map((id) => sno.parse(id).partition), uuids.map(uuid7.workerId)];
        const isOwn = wasm.sno.generateMany(1) instanceof wasm.sno.SnoArray
          && wasm.uuid7.generateMany(1) instanceof wasm.uuid7.Uuid7Array;
        console.log(JSON.stringify({ snos, guids, uuids, numbers, isOwn }));`;
      const env = { ...process.env, POLYFLAKE_LEASE: url };
      const options = ["--import", "polyflake/lease", "--no-warnings", "--input-type=module", "--eval", program];
      const { snos, guids, uuids, numbers, isOwn } = JSON.parse((await run(node, options, { env })).stdout);
      assert.equal(new Set(snos).size, 12);
      assert.equal(new Set(guids).size, 5);
      assert.deepEqual([...uuids].sort(), uuids);
      for (const of of numbers) assert.equal(new Set(of).size, 1);
      assert(isOwn);
    });

    test("with --import a process leases worker IDs only of the formats in the variable", async () => {
      const { node, url } = createStore();
      const program = `
        import { sno } from "polyflake";
        const { partition } = sno.parse(sno.generate());
        process.stdout.write(String(partition), () => process.kill(process.pid, "SIGKILL"));`;
      const env = { ...process.env, POLYFLAKE_LEASE: url, POLYFLAKE_FORMATS: "sno" };
      const options = ["--import", "polyflake/lease", "--no-warnings", "--input-type=module", "--eval", program];
      const killed = await run(node, options, { env }).catch((error) => error);
      assert.deepEqual([killed.signal, killed.stdout], ["SIGKILL", "0"]);
      const [{ namespace, first }, ...others] = await grantedWorkerIds(url);
      assert.deepEqual([namespace.split("/")[1], Number(first), others], ["sno", 0, []]);
    });

    test("four worker IDs suffice for four processes that restart repeatedly", async () => {
      const store = createStore();
      // A program cannot wait during process.exit or after an uncaught error, so it can return the worker ID only to a
      // file store.
      const ends = name === "pg" ? ["close", "end", "signal", "signal"] : ["exit", "throw", "signal", "end"];
      const reports = [];
      for (let round = 0; round < 3; round++) {
        const fleet = await Promise.all(ends.map((end) => startMaker(store, end, { workerIds: [0, 3] })));
        for (const { child } of fleet) child.kill("SIGTERM");
        for (const { child } of fleet) await child.ended;
        reports.push(...fleet);
      }
      assert.equal(reports.length, 12);
      assertDistinct(reports);
    });

    test("`ready` awaits the worker IDs of default generators that were used before", async () => {
      const { node, url } = createStore();
      const program = `
        import { cpSync } from "node:fs";
        import { afterRestore, hotguid, sno, uuid7 } from "polyflake";
        import { close, ready } from "polyflake/lease";
        cpSync("node_modules/polyflake", "node_modules/polyflake-copy", { recursive: true });
        const other = await import("polyflake-copy/lease");
        const generate = () => (hotguid.generate(), uuid7.generate(), sno.parse(sno.generate()).partition);
        const numbers = [generate()];
        for (const each of [ready, other.ready]) {
          afterRestore();
          await each();
          numbers.push(generate());
        }
        await close();
        await ready();
        console.log(JSON.stringify(numbers));`;
      const env = { ...process.env, POLYFLAKE_LEASE: url };
      const { stdout } = await run(node, ["--input-type=module", "--eval", program], { env });
      // The worker IDs from before a restore remain granted, because the original process may still use them.
      assert.equal(new Set(JSON.parse(stdout)).size, 3);
    });

    test("a lease that was closed before a generator used it is replaced", async () => {
      const { node, url } = createStore();
      const program = `
        import { sno } from "polyflake";
        import { close, ready } from "polyflake/lease";
        await close();
        await ready();
        console.log(sno.parse(await sno.generateAsync()).partition);
        await close();`;
      const env = { ...process.env, POLYFLAKE_LEASE: url };
      assert.equal((await run(node, ["--input-type=module", "--eval", program], { env })).stdout.trim(), "0");
      assert.deepEqual(await grantedWorkerIds(url), []);
    });

    test("SIGTERM ends a process after it released its worker ID", async () => {
      const store = createStore();
      const { child } = await startMaker(store, "signal", { workerIds: [0, 0] });
      child.kill("SIGTERM");
      assert.deepEqual(await child.ended, [null, "SIGTERM"]);
      assert.deepEqual(await grantedWorkerIds(store.url), []);
      const next = await startMaker(store, "close", { workerIds: [0, 0] });
      assert.equal(next.workerId, 0);
    });

    /**
     * Runs a program that prints JSON, and returns the parsed JSON. Every program calls `afterRestore` to simulate a
     * restore.
     */
    const restored = async ({ node, url }, program, flags = [], env = {}) => {
      const lead = `
        import { afterRestore, sno } from "polyflake";
        import { lease } from "polyflake/lease";
        const print = (value) => console.log(JSON.stringify(value));
        const codeOf = (call) => { try { call(); return "none"; } catch ({ code, message }) { return code ?? message; } };
        const partitionOf = (id) => sno.parse(id).partition;`;
      const options = { env: { ...process.env, STORE: url, ...env } };
      const source = ["--input-type=module", "--eval", lead + program];
      return JSON.parse((await run(node, ["--no-warnings", ...flags, ...source], options)).stdout);
    };

    test("after a restore a lease is abandoned without a release, and another one acquired", async () => {
      const store = createStore();
      const program = `
        const held = lease(process.env.STORE);
        const ids = new sno.Generator({ lease: held });
        const numbers = [await held.ready()];
        const made = ids.generateMany(1000).texts();
        const codes = [];
        const began = performance.now();
        for (let k = 0; k < 2; k++) {
          afterRestore();
          codes.push(codeOf(() => ids.generate()), codeOf(() => ids.generateMany(1)));
          made.push(await ids.generateAsync());
          numbers.push(await held.ready(), held.status().workerId, partitionOf(made.at(-1)));
          made.push(...ids.generateMany(1000).texts());
        }
        const ms = performance.now() - began;
        print({ numbers, codes, ms, distinct: new Set(made).size });`;
      const { numbers, codes, ms, distinct } = await restored(store, program);
      const [zero, one, , , two] = numbers;
      assert.deepEqual(numbers, [0, one, one, one, two, two, two]);
      assert.equal(new Set([zero, one, two]).size, 3);
      assert.deepEqual(codes, new Array(4).fill("lease_unavailable"));
      assert.equal(distinct, 3002);
      assert(ms < 5000, `${ms} ms`);
      // The process released its last worker ID when it exited.
      const kept = (await grantedWorkerIds(store.url)).map(({ first }) => Number(first));
      assert.deepEqual(new Set(kept), new Set([zero, one]));
    });

    test("a lease that is closed after a restore releases nothing", async () => {
      const store = createStore();
      const program = `
        const held = lease(process.env.STORE);
        const ids = new sno.Generator({ lease: held });
        const number = await held.ready();
        afterRestore();
        await held.close();
        print([number, codeOf(() => ids.generate())]);`;
      assert.deepEqual(await restored(store, program), [0, "generator_closed"]);
      assert.deepEqual(
        (await grantedWorkerIds(store.url)).map(({ first }) => Number(first)),
        [0],
      );
    });

    test("ready() never resolves to the worker ID from before a restore", async () => {
      const program = `
        const held = lease(process.env.STORE);
        const ids = new sno.Generator({ lease: held });
        const numbers = [await held.ready()];
        afterRestore();
        numbers.push(await held.ready(), partitionOf(ids.generate()));
        print(numbers);`;
      const [before, ...after] = await restored(createStore(), program);
      assert(after[0] !== before && after[1] === after[0], `${[before, after]}`);
    });

    test("a lease that starts after a restore gets a worker ID", async () => {
      const program = `
        const held = lease(process.env.STORE);
        const ids = new sno.Generator({ lease: held });
        afterRestore();
        print([partitionOf(await ids.generateAsync()), await held.ready()]);`;
      const [made, number] = await restored(createStore(), program);
      assert.equal(made, number);
    });

    test("with --import the first generator after a restore does not use the worker ID from before", async () => {
      const store = createStore();
      const program = `
        afterRestore();
        print([codeOf(() => sno.generate()), partitionOf(await sno.generateAsync())]);`;
      const flags = ["--import", "polyflake/lease"];
      const found = await restored(store, program, flags, { POLYFLAKE_LEASE: store.url, POLYFLAKE_FORMATS: "sno" });
      assert.equal(found[0], "lease_unavailable");
      assert.notEqual(found[1], 0);
    });

    for (const backend of ["native", "wasm"]) {
      test(`${backend}: a call in the main thread reaches the lease of a thread`, async () => {
        const thread = `
          const { parentPort } = require("node:worker_threads");
          Promise.all([import("polyflake/${backend}"), import("polyflake/lease")]).then(async ([{ sno }, { lease }]) => {
            const ids = new sno.Generator({ lease: lease(process.env.STORE) });
            const partition = async () => sno.parse(await ids.generateAsync()).partition;
            const before = await partition();
            parentPort.on("message", async () => parentPort.postMessage([before, await partition()]));
            parentPort.postMessage("ready");
          });`;
        // With the addon, the report of the restore reaches threads that started before the main thread used the
        // package.
        const program = `
          import { once } from "node:events";
          import { Worker } from "node:worker_threads";
          const { afterRestore } = await import("polyflake/${backend}");
          if ("${backend}" === "wasm") afterRestore();
          const worker = new Worker(${JSON.stringify(thread)}, { eval: true, execArgv: [] });
          await once(worker, "message");
          afterRestore();
          worker.postMessage("generate");
          const [found] = await once(worker, "message");
          process.stdout.write(JSON.stringify(found), () => process.exit());`;
        // The main thread does not use polyflake/lease, because a lease would use the package and thereby share the
        // restore count with the other thread.
        const { node, url } = createStore();
        const options = { env: { ...process.env, STORE: url } };
        const { stdout } = await run(node, ["--no-warnings", "--input-type=module", "--eval", program], options);
        const [before, after] = JSON.parse(stdout);
        assert(before === 0 && after > 0, stdout);
      });
    }

    test("a killed process keeps its worker ID until its lease ends", async () => {
      const store = createStore();
      const options = { workerIds: [0, 0], requiredWorkerId: 0, leaseMs: 3000 };
      const first = await startMaker(store, "kill", options);
      const killed = Date.now();
      first.child.kill("SIGKILL");
      await first.child.ended;
      const second = await startMaker(store, "close", options);
      assert(Date.now() - killed > 1000, `${Date.now() - killed}`);
      assert.equal(second.workerId, 0);
      assertDistinct([first, second]);
    });
  });
}
