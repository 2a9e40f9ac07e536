// Tests leases in Deno and Bun with the programs from programs.test.mjs. Processes in Deno, Bun and Node share the
// stores.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { grantedWorkerIds, STORE_FACTORIES, startMaker } from "./places.mjs";

const run = promisify(execFile);
const DENO = ["node_modules/.bin/deno", "run", "--allow-all"];
const RUNTIMES = { Node: ["node_modules/node24/bin/node"], Deno: DENO, Bun: ["node_modules/.bin/bun"] };

/** Prints IDs of the formats' default generators after importing `polyflake/lease`. */
writeFileSync(
  "defaults.mjs",
  `import "polyflake/lease";
  import { hotguid, sno, uuid7 } from "polyflake";
  const numbers = [sno.parse(sno.generate()).partition, uuid7.workerId(uuid7.generate())];
  console.log(JSON.stringify({ numbers, id: hotguid.generate() }));`,
);
writeFileSync("plain.mjs", 'import { sno } from "polyflake"; console.log(sno.generate());');

for (const name of ["node:sqlite", "pg"].filter((name) => STORE_FACTORIES[name])) {
  describe(name, { concurrency: false }, () => {
    test("processes in all runtimes share a store and release their worker IDs", async () => {
      const { url } = STORE_FACTORIES[name]();
      const reports = [];
      // A program cannot wait during process.exit or after an uncaught error, so it can return the worker ID only to a
      // file store.
      for (const end of name === "pg" ? ["close", "end", "signal"] : ["close", "end", "signal", "exit", "throw"]) {
        // After an uncaught error, Deno runs no handlers, so the worker ID remains granted for the rest of the lease.
        const runtimes = Object.values(RUNTIMES).filter((command) => end !== "throw" || command !== DENO);
        const makers = runtimes.map(([node, ...run]) => startMaker({ node, run, url }, end, { workerIds: [0, 2] }));
        const fleet = await Promise.all(makers);
        for (const { child } of fleet) if (end === "signal") child.kill("SIGTERM");
        for (const { child } of fleet) await child.ended;
        assert.deepEqual(await grantedWorkerIds(url), [], end);
        reports.push(...fleet);
      }
      const ids = reports.flatMap(({ ids }) => ids);
      assert.equal(new Set(ids).size, reports.length * 500);
    });

    for (const [runtime, [program, ...options]] of Object.entries(RUNTIMES)) {
      test(`${runtime}: one variable sets the worker ID of the default generators`, async () => {
        const { url } = STORE_FACTORIES[name]();
        const env = { ...process.env, POLYFLAKE_LEASE: url, POLYFLAKE_WORKER_ID: "41" };
        const { stdout } = await run(program, [...options, "defaults.mjs"], { env });
        assert.deepEqual(JSON.parse(stdout).numbers, [41, 41]);
        assert.deepEqual(await grantedWorkerIds(url), []);
      });
    }
  });
}

test("a variable without polyflake/lease or without permission is rejected", async () => {
  const env = { ...process.env, POLYFLAKE_LEASE: "sqlite:/ids.db?namespace=orders" };
  for (const [program, ...options] of [...Object.values(RUNTIMES), ["node_modules/.bin/deno", "run"]]) {
    const refused = await run(program, [...options, "plain.mjs"], { env }).catch((error) => error);
    const reason = options.length === 1 ? "--allow-env=POLYFLAKE_LEASE" : "expected polyflake/lease";
    assert(refused.stderr.includes(reason), `${program}: ${refused.stderr}`);
  }
});
