// The public suite of stores over the drivers, which it asks as if they answered at once: they run in a thread meanwhile.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { env } from "node:process";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import pg from "pg";

const { POLYFLAKE_REPOSITORY: REPOSITORY } = env;
const target = "wasm32-unknown-unknown";
const cargo = (...options) => execFileSync("cargo", options, { cwd: REPOSITORY, encoding: "utf8", maxBuffer: 1 << 26 });
cargo("build", "--quiet", "--package", "polyflake-lease-wasm", "--features", "conformance", "--target", target);
const { target_directory: folder } = JSON.parse(cargo("metadata", "--no-deps", "--format-version=1"));
const suite = new WebAssembly.Module(readFileSync(join(folder, target, "debug/polyflake_lease_wasm.wasm")));

/** Runs the suite over a driver, and returns its fault, if it finds one. */
function faultOf(driver, fault = "") {
  const cells = new SharedArrayBuffer(1 << 20);
  const [state, text] = [new Int32Array(cells, 0, 2), new Uint8Array(cells, 8)];
  const worker = new Worker("./driving.mjs", { workerData: { cells, driver, fault } });
  let failed;
  const ask = (length) => {
    const at = exports.room(0);
    const asked = new Uint8Array(exports.memory.buffer, at, length);
    failed ??= JSON.parse(new TextDecoder().decode(asked)).failed;
    text.set(asked);
    state[1] = length;
    Atomics.store(state, 0, 1);
    Atomics.notify(state, 0);
    if (Atomics.wait(state, 0, 1, 20_000) === "timed-out") throw new Error("expected an answer of the driver");
    const room = exports.room(state[1]);
    new Uint8Array(exports.memory.buffer, room, state[1]).set(text.subarray(0, state[1]));
    return state[1];
  };
  const { exports } = new WebAssembly.Instance(suite, { driver: { driver: ask } });
  try {
    exports.check();
  } catch (error) {
    return failed ?? String(error);
  } finally {
    worker.terminate();
  }
  return undefined;
}

/** An empty store for each run. */
const STORES = { sqlite: async () => `sqlite:${mkdtempSync("leases-")}/ids.db` };
if (env.PGHOST) {
  const host = encodeURIComponent(env.PGHOST);
  let count = 0;
  STORES.pg = async () => {
    const name = `suite${++count}`;
    const client = new pg.Client({ connectionString: `postgres://test@/postgres?host=${host}` });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return `postgres://test@/${name}?host=${host}`;
  };
}

for (const [name, store] of Object.entries(STORES)) {
  describe(name, { concurrency: false }, () => {
    test("the driver passes the suite", async () => assert.equal(faultOf(await store()), undefined));
    test("a driver that makes texts of integers, or loses rows, does not", async () => {
      for (const fault of ["texts", "rows"]) assert.equal(typeof faultOf(await store(), fault), "string", fault);
    });
  });
}
