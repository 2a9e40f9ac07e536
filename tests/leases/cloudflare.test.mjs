// Platform: Cloudflare Durable Objects.
// Tests leases in Workers against a Durable Object. The object's storage is node:sqlite, so that a test can lose
// replies and stop requests.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sno, uuid7 } from "polyflake";
import { LeaseStore, lease, serve } from "polyflake/lease/cloudflare";

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

const TOKEN = "0123456789abcdef012345";
const TOKENS = JSON.parse(readFileSync(join(import.meta.dirname, "tokens.json"), "utf8"));

/** Sends a request for the names of namespaces to a Worker, and returns the status and the JSON of the response. */
async function list(objects, tokens, token, namespace = "orders") {
  const body = `{"ask":"list","namespace":"${namespace}","number":1}`;
  const headers = { authorization: `bearer ${token}` };
  const request = new Request("https://ids.example/v1/request", { method: "POST", headers, body });
  const response = await serve(request, objects, tokens);
  return { status: response.status, isRead: request.bodyUsed, ...(await response.json()) };
}

/** Returns a binding whose objects have a storage each, and the names of the objects. */
function createObjects() {
  const bindings = new Map();
  const idFromName = (name) => {
    if (!bindings.has(name)) bindings.set(name, createBinding().objects);
    return name;
  };
  return { objects: { idFromName, get: (name) => bindings.get(name).get() }, names: () => [...bindings.keys()] };
}

test("`serve` leaves other paths to the program, and rejects other methods", async () => {
  const { objects } = createBinding();
  const send = (path) => serve(new Request(`https://ids.example${path}`), objects, `orders ${TOKEN}\n# a comment\n`);
  assert.equal(await send("/"), undefined);
  assert.equal((await send("/v1/request")).status, 405);
  assert.deepEqual((await list(objects, `orders ${TOKEN}\n`, TOKEN)).names, []);
});

test("the valid lines of tokens are those of the table, and an invalid line is an error before the request is read", async () => {
  for (const { lines, namespaces, says } of TOKENS.cases) {
    const { objects } = createBinding();
    const known = (token, namespace) => list(objects, lines, token, namespace);
    for (const [token, namespace] of Object.entries(namespaces ?? {})) {
      assert.equal((await known(token, namespace)).status, 200, lines);
      assert.equal((await known(token, `${namespace}/other`)).status, 403, lines);
    }
    const { status, code, message, isRead } = await known("0123456789abcdef0123456", "orders");
    assert.equal(isRead, false);
    if (namespaces) assert.deepEqual([status, code], [401, "unauthorized"], lines);
    else {
      assert.deepEqual([status, code], [503, "invalid_secret"], lines);
      assert.ok(message.includes(says) && message.includes("POLYFLAKE_TOKENS"), message);
      assert.ok(!message.includes("0123456789"), message);
    }
  }
});

test("a Worker without its tokens or its binding has a typed error that names what is missing", async () => {
  const { objects } = createBinding();
  for (const tokens of [undefined, null, 7, {}, ""]) {
    const { status, code, message, permanent, isRead } = await list(objects, tokens, TOKEN);
    assert.deepEqual([status, code, permanent, isRead], [503, "invalid_secret", true, false]);
    assert.match(message, /POLYFLAKE_TOKENS.*NAMESPACE TOKEN/);
    const get = await serve(new Request("https://ids.example/v1/request"), objects, tokens);
    assert.equal(get.status, 503);
    assert.equal(await serve(new Request("https://ids.example/"), objects, tokens), undefined);
  }
  for (const missing of [undefined, null, {}])
    await assert.rejects(list(missing, `orders ${TOKEN}`, TOKEN), { code: "invalid_type", field: "objects" });
});

test("a token permits the namespaces of the table", async () => {
  for (const [owner, { permitted, forbidden }] of Object.entries(TOKENS.permits)) {
    const { objects } = createBinding();
    const status = async (namespace) => (await list(objects, `${owner} ${TOKEN}`, TOKEN, namespace)).status;
    for (const namespace of permitted) assert.equal(await status(namespace), 200, `${owner}: ${namespace}`);
    for (const namespace of forbidden) assert.equal(await status(namespace), 403, `${owner}: ${namespace}`);
  }
});

test("the namespace selects the object, whichever token or lease requests it", async () => {
  for (const [name, namespaces] of Object.entries(TOKENS.objects))
    for (const namespace of namespaces) {
      const { objects, names } = createObjects();
      await list(objects, `${namespace} ${TOKEN}`, TOKEN, namespace);
      const held = lease(objects, namespace, { waitMs: 5000 });
      new sno.Generator({ lease: held });
      await held.ready();
      assert.deepEqual(names(), [name], namespace);
    }
});

test("the holders of the tokens of `orders` and of `orders/sno` never have the same worker ID", async (context) => {
  const other = "ABCDEFGHIJKLMNOPQRSTUV";
  const { objects } = createObjects();
  context.mock.method(globalThis, "fetch", (url, options) =>
    serve(new Request(url, { ...options, redirect: "follow" }), objects, `orders ${TOKEN}\norders/sno ${other}`),
  );
  const sources = [objects, `https://${TOKEN}@ids.example`, `https://${other}@ids.example`];
  const held = sources.map((source) => lease(source, "orders"));
  for (const lease of held) new sno.Generator({ lease });
  // Three holders that claim at the same time may each try several worker IDs.
  const workerIds = await Promise.all(held.map((lease) => lease.ready()));
  assert.equal(new Set(workerIds).size, 3, String(workerIds));
  const uuids = lease(objects, "orders");
  new uuid7.Generator({ lease: uuids });
  await uuids.ready();
  const names = async (token, namespace) =>
    (await list(objects, `orders ${TOKEN}\norders/sno ${other}`, token, namespace)).names;
  assert.deepEqual(await names(TOKEN, "orders"), ["orders/sno", "orders/uuid7"]);
  assert.deepEqual(await names(other, "orders/sno"), ["orders/sno"]);
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
