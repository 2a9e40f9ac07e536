// Tests programs as users run them: clusters, threads, restarts and faults.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { granted, PLACES, started } from "./places.mjs";

const run = promisify(execFile);

function assertDistinct(reports) {
  const ids = reports.flatMap(({ ids }) => ids);
  assert.equal(new Set(ids).size, ids.length);
}

for (const [name, place] of Object.entries(PLACES)) {
  describe(name, { concurrency: false }, () => {
    for (const kind of ["cluster", "threads"]) {
      test(`${kind}: one variable leases a worker ID for each process, which releases it`, async () => {
        const { node, url } = place();
        const env = { ...process.env, POLYFLAKE_LEASE: url, NODE_OPTIONS: "--import polyflake/lease --no-warnings" };
        const { stdout } = await run(node, ["fleet.mjs", kind, "9", "3"], { env, maxBuffer: 1 << 26 });
        const reports = JSON.parse(stdout);
        assert.equal(reports.length, 10);
        assertDistinct(reports);
        assert(new Set(reports.map(({ number }) => number)).size >= 4);
        assert.deepEqual(await granted(url), []);
      });
    }

    test("with --import all copies of the package use one worker ID immediately", async () => {
      const { node, url } = place();
      const program = `
        import { hotguid, sno } from "polyflake";
        import * as wasm from "polyflake/wasm";
        const snos = [sno.generate(), wasm.sno.generate(), ...sno.generateMany(3), ...wasm.sno.generateMany(3)];
        sno.setDefaultGenerator(undefined);
        snos.push(sno.generate(), ...(await wasm.sno.generateManyAsync(3)));
        const guids = [hotguid.generate(), wasm.hotguid.generate(), ...wasm.hotguid.generateMany(3)];
        const isOwn = wasm.sno.generateMany(1) instanceof wasm.sno.SnoArray;
        console.log(JSON.stringify({ snos, guids, partitions: snos.map((id) => sno.parse(id).partition), isOwn }));`;
      const env = { ...process.env, POLYFLAKE_LEASE: url };
      const options = ["--import", "polyflake/lease", "--no-warnings", "--input-type=module", "--eval", program];
      const { snos, guids, partitions, isOwn } = JSON.parse((await run(node, options, { env })).stdout);
      assert.equal(new Set(snos).size, 12);
      assert.equal(new Set(guids).size, 5);
      assert.equal(new Set(partitions).size, 1);
      assert(isOwn);
    });

    test("with --import a process leases worker IDs only of the formats in the variable", async () => {
      const { node, url } = place();
      const program = `
        import { sno } from "polyflake";
        const { partition } = sno.parse(sno.generate());
        process.stdout.write(String(partition), () => process.kill(process.pid, "SIGKILL"));`;
      const env = { ...process.env, POLYFLAKE_LEASE: url, POLYFLAKE_FORMATS: "sno" };
      const options = ["--import", "polyflake/lease", "--no-warnings", "--input-type=module", "--eval", program];
      const killed = await run(node, options, { env }).catch((error) => error);
      assert.deepEqual([killed.signal, killed.stdout], ["SIGKILL", "0"]);
      const [{ namespace, first }, ...others] = await granted(url);
      assert.deepEqual([namespace.split("/")[1], Number(first), others], ["sno", 0, []]);
    });

    test("four worker IDs suffice for four processes that restart repeatedly", async () => {
      const store = place();
      // At process.exit and after an uncaught error, a program cannot wait, so only a file store gets the worker ID
      // back.
      const ends = name === "pg" ? ["close", "end", "signal", "signal"] : ["exit", "throw", "signal", "end"];
      const reports = [];
      for (let round = 0; round < 3; round++) {
        const fleet = await Promise.all(ends.map((end) => started(store, end, { numbers: [0, 3] })));
        for (const { child } of fleet) child.kill("SIGTERM");
        for (const { child } of fleet) await child.ended;
        reports.push(...fleet);
      }
      assert.equal(reports.length, 12);
      assertDistinct(reports);
    });

    test("SIGTERM ends a process after it released its worker ID", async () => {
      const store = place();
      const { child } = await started(store, "signal", { numbers: [0, 0] });
      child.kill("SIGTERM");
      assert.deepEqual(await child.ended, [null, "SIGTERM"]);
      assert.deepEqual(await granted(store.url), []);
      const next = await started(store, "close", { numbers: [0, 0] });
      assert.equal(next.number, 0);
    });

    test("a killed process keeps its worker ID until its lease ends", async () => {
      const store = place();
      const options = { numbers: [0, 0], insist: 0, leaseMs: 3000 };
      const first = await started(store, "kill", options);
      const killed = Date.now();
      first.child.kill("SIGKILL");
      await first.child.ended;
      const second = await started(store, "close", options);
      assert(Date.now() - killed > 1000, `${Date.now() - killed}`);
      assert.equal(second.number, 0);
      assertDistinct([first, second]);
    });
  });
}
