// Tests leases in Workers against a Durable Object. The object's storage is node:sqlite, so that a test can lose
// replies and stop requests.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sno } from "polyflake";

const PACKAGE = join(import.meta.dirname, "../../packages/js");
const { build } = createRequire(join(PACKAGE, "package.json"))("esbuild");
const rulesBase64 = readFileSync(join(PACKAGE, "dist/esm/lease.wasm"), "base64");
const { outputFiles } = await build({
  entryPoints: [join(PACKAGE, "dist/esm/lease-cloudflare.js")],
  bundle: true,
  write: false,
  format: "esm",
  external: ["node:*"],
  plugins: [
    {
      name: "compiled",
      setup({ onResolve, onLoad }) {
        onResolve({ filter: /\.wasm$/ }, ({ path }) => ({ path, namespace: "compiled" }));
        const contents = `export default new WebAssembly.Module(Buffer.from("${rulesBase64}", "base64"));`;
        onLoad({ filter: /.*/, namespace: "compiled" }, () => ({ contents }));
      },
    },
  ],
});
const { LeaseStore, lease, serve } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
);

/** Returns the state of a Durable Object whose storage is an in-memory database. */
function objectState(database) {
  const exec = (text, ...values) => ({ toArray: () => database.prepare(text).all(...values) });
  const transactionSync = (call) => {
    database.exec("BEGIN");
    try {
      return call();
    } finally {
      database.exec("COMMIT");
    }
  };
  return { storage: { sql: { exec }, transactionSync } };
}

/**
 * Returns a binding with one object. `send` forwards each request to the object. It may delay or drop a request before
 * the object receives it, or a reply before the client receives it.
 */
function createBinding(send = (answer) => answer()) {
  const database = new DatabaseSync(":memory:");
  const object = new LeaseStore(objectState(database), {});
  const answer = (url, options) => object.fetch(new Request(url, { ...options, redirect: "follow" }));
  const objects = { idFromName: (name) => name, get: () => ({ fetch: (...all) => send(() => answer(...all)) }) };
  return { objects, database };
}

test("holders at the same time lease different worker IDs", async () => {
  const { objects } = createBinding();
  const held = Array.from({ length: 8 }, () => lease(objects, "orders", { workerIds: [0, 7] }));
  const generators = held.map((lease) => new sno.Generator({ lease }));
  const numbers = await Promise.all(held.map((lease) => lease.ready()));
  assert.deepEqual([...numbers].sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.equal(new Set(generators.map((ids) => sno.parse(ids.generate()).partition)).size, 8);
  const late = lease(objects, "orders", { workerIds: [0, 7], waitMs: 300 });
  new sno.Generator({ lease: late });
  await assert.rejects(late.ready(), { code: "lease_unavailable", message: /8/ });
  await held[3].close();
  await assert.rejects(held[3].ready(), { code: "generator_closed" });
  assert.throws(() => generators[3].generate(), { code: "generator_closed" });
  const next = lease(objects, "orders", { workerIds: [0, 7] });
  new sno.Generator({ lease: next });
  assert.equal(await next.ready(), numbers[3]);
});

test("a call that waits for a worker ID leases it without `ready`", async () => {
  const held = lease(createBinding().objects, "orders");
  assert.equal(sno.parse(await new sno.Generator({ lease: held }).generateAsync()).partition, 0);
});

test("another request takes over from one that is aborted, and settles its lost reply", async () => {
  let [sent, lost] = [0, 0];
  const { objects, database } = createBinding(async (answer) => {
    const response = await answer();
    if (++sent !== 3) return response;
    lost++;
    return new Promise(() => {});
  });
  // According to the lease rules, a request waits for its reply for a quarter of the lease duration.
  const held = lease(objects, "orders", { leaseMs: 16_000 });
  const ids = new sno.Generator({ lease: held });
  const aborted = held.ready();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const began = performance.now();
  assert.equal(await held.ready(), 0);
  assert.ok(performance.now() - began < 3800, "expected that the next request does not wait for the aborted one");
  assert.equal(await aborted, 0);
  assert.equal(sno.parse(ids.generate()).partition, 0);
  assert.equal(lost, 1);
  const records = database.prepare("SELECT record FROM polyflake_leases").all();
  assert.equal(records.length, 1, "expected that the request is settled and not repeated with another worker ID");
});

test("a renewal continues after the response if the request has a context", async () => {
  let isSlow = false;
  const { objects } = createBinding(async (answer) => {
    if (isSlow) await new Promise((resolve) => setTimeout(resolve, 200));
    return answer();
  });
  const held = lease(objects, "orders", { leaseMs: 4000, renewMs: 1000 });
  new sno.Generator({ lease: held });
  await held.ready();
  const { end } = held.status();
  isSlow = true;
  const pendingWork = [];
  const context = { waitUntil: (work) => pendingWork.push(work) };
  for (const began = Date.now(); Date.now() - began < 1500; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const before = performance.now();
    assert.equal(await held.ready(context), 0);
    assert.ok(performance.now() - before < 150, "expected that no request waits for the renewal");
  }
  await Promise.all(pendingWork);
  assert.ok(held.status().end > end, "expected a renewal");
});

test("`serve` leaves other paths to the program, and rejects other methods", async () => {
  const { objects } = createBinding();
  const tokens = "orders 0123456789abcdef012345\n# a comment\n";
  const send = (path, options) => serve(new Request(`https://ids.example${path}`, options), objects, tokens);
  assert.equal(await send("/", {}), undefined);
  assert.equal((await send("/v1/request", {})).status, 405);
  const authorization = "bearer 0123456789abcdef012345";
  const body = '{"ask":"list","namespace":"orders/sno","number":1}';
  const response = await send("/v1/request", { method: "POST", headers: { authorization }, body });
  assert.deepEqual([response.status, (await response.json()).names], [200, []]);
});

test("invalid sources, options and statements are rejected", () => {
  const { objects, database } = createBinding();
  assert.throws(() => lease({}, "orders"), { code: "invalid_type", field: "source" });
  assert.throws(() => lease("sqlite:/ids.db", "orders"), { code: "out_of_range" });
  assert.throws(() => lease("https://a-token-of-conformance@ids.example/path", "orders"), { code: "out_of_range" });
  assert.throws(() => lease(objects, "orders", { strict: true }), { code: "unknown_field" });
  assert.throws(() => new sno.Generator({ lease: lease(objects, "-") }), { code: "out_of_range" });
  assert.throws(() => new LeaseStore(objectState(database), { POLYFLAKE_RESTORED: "to day" }), /POLYFLAKE_RESTORED/);
  const held = lease(objects, "orders");
  new sno.Generator({ lease: held });
  assert.throws(() => new sno.Generator({ lease: held }), { code: "lease_mismatch" });
});
