// Tests leases without a store: their options, their URLs, and which generators accept them. tests/packaging/js/lease
// tests the stores.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { test } from "node:test";
import * as polyflake from "polyflake";
import { check, close, lease } from "polyflake/lease";
import { assertError, assertRejects } from "./assertions.mjs";

/** Creates a pg client whose server rejects every statement. */
const rejectingClient = (more = {}) => ({
  connect: async () => ({
    on() {},
    off() {},
    query: () => Promise.reject(Object.assign(new Error("the server says no"), more)),
    release(isLost) {
      this.isLost = isLost;
    },
  }),
});

const URL_CASES = JSON.parse(readFileSync(new URL("../../../tests/leases/urls.json", import.meta.url), "utf8")).cases;
const PG_KEY = Symbol.for("polyflake.pg");
const MYSQL_KEY = Symbol.for("polyflake.mysql2/promise");
const IOREDIS_KEY = Symbol.for("polyflake.ioredis");

/** Runs a call with the given environment variables set. */
function withEnvironment({ variable, url, worker_id: workerId }, call) {
  const before = { ...process.env };
  if (variable) process.env.POLYFLAKE_LEASE = url;
  if (workerId !== undefined) process.env.POLYFLAKE_WORKER_ID = workerId;
  try {
    return call(variable ? undefined : url);
  } finally {
    process.env = before;
  }
}

/** The ioredis options that the lease overrides. */
const OWN_IOREDIS_OPTIONS = {
  lazyConnect: true,
  enableReadyCheck: false,
  retryStrategy: null,
  reconnectOnError: null,
  keyPrefix: "",
  db: 0,
};

/** Type numbers of Linux file systems. */
const [EXT4, OVERLAYFS] = [0xef53n, 0x794c7630n];

test("URLs are parsed the same way in every language", async (t) => {
  // Mock database clients that record their arguments: classes for pg and ioredis, a function for mysql2, a SQLite
  // class, and a `fetch` that records the address and the token. `type` is the type of the file system that contains
  // the SQLite file.
  let made;
  globalThis[PG_KEY] = {
    Client: class {
      constructor(options) {
        made = options;
      }
      on() {}
      connect = () => Promise.reject(new Error("no server"));
      end = async () => {};
    },
  };
  globalThis[MYSQL_KEY] = {
    createConnection(options) {
      made = options;
      return Promise.reject(new Error("no server"));
    },
  };
  globalThis[IOREDIS_KEY] = {
    createClient: () => assert.fail("expected the class, since this function of ioredis connects at once"),
    Redis: class {
      constructor(options) {
        made = options;
      }
      on() {}
      connect = () => Promise.reject(new Error("no server"));
      disconnect() {}
    },
  };
  class Database {
    constructor(path) {
      made = path;
      throw new Error("no file");
    }
  }
  t.mock.method(globalThis, "fetch", async (url, { headers: { authorization } }) => {
    made = { url, authorization };
    throw new TypeError("fetch failed", { cause: new Error("no server") });
  });
  let type;
  t.mock.method(fs, "openSync", () => {
    throw Object.assign(new Error("the file exists"), { code: "EEXIST" });
  });
  t.mock.method(fs, "statSync", () => ({ ino: 1n, birthtimeMs: 1n }));
  t.mock.method(fs, "statfsSync", () => ({ type }));
  const { mock } = t.mock.method(JSON, "stringify");
  /** Returns the settings of the last lease, as the core receives them. */
  const settings = () => JSON.parse(mock.calls.findLast(({ result }) => result?.includes('"holder":')).result);
  let catches = false;
  for (const one of URL_CASES) {
    const { namespace, parsed, error } = one;
    const make = (url) => lease(url, namespace, { sqlite: Database });
    if (error) {
      const { message } = withEnvironment(one, (url) => assertError(error.code, () => make(url)));
      for (const expectedText of error.says) assert(message.includes(expectedText), `${one.url}: ${message}`);
      assert(!message.includes("sesame"), message);
      continue;
    }
    if (parsed.store !== "sqlite" && parsed.server.roots !== null) continue;
    type = parsed.allows_overlayfs ? OVERLAYFS : EXT4;
    made = undefined;
    const held = withEnvironment(one, make);
    const ids = new polyflake.sno.Generator({ lease: held });
    while (held.status().rejected === null) await new Promise((resolve) => setTimeout(resolve, 5));
    const begun = settings();
    assert.deepEqual(begun, {
      holder: begun.holder,
      family: "sno",
      store: parsed.store,
      store_name: parsed.store_name,
      namespace: parsed.namespace,
      environment_worker_id: parsed.environment_worker_id ?? null,
      schema: parsed.schema ?? null,
      create: parsed.create ?? null,
      storage: parsed.storage ?? null,
      lease_ms: parsed.lease_ms ?? null,
      renew_ms: parsed.renew_ms ?? null,
      strict: parsed.strict ?? false,
      worker_ids: parsed.worker_ids ?? null,
      wait_ms: parsed.wait_ms ?? null,
    });
    catches ||= parsed.sigterm ?? false;
    assert.equal(process.listenerCount("SIGTERM") > 0, catches, one.url);
    if (parsed.store === "sqlite") assert.equal(made, resolve(parsed.path), one.url);
    else {
      const { hosts, user, password, database, encrypts, application_name, options, connect_timeout } = parsed.server;
      const [host, port] = hosts.at(-1);
      const account = { user: user ?? undefined, password: password ?? undefined, database: database ?? undefined };
      const longest = Math.min(connect_timeout ?? 10, 10) * 1000;
      const pgOptions = {
        host,
        port,
        ...account,
        ssl: encrypts && { ca: undefined },
        application_name,
        options: options ?? undefined,
        connectionTimeoutMillis: longest,
      };
      const mysqlOptions = {
        ...(host.startsWith("/") ? { socketPath: host } : { host, port }),
        ...account,
        ssl: encrypts ? { ca: undefined, verifyIdentity: true } : undefined,
        connectTimeout: longest,
      };
      const httpOptions = {
        url: `${encrypts ? "https" : "http"}://${host}:${port}/v1/request`,
        authorization: `Bearer ${password}`,
      };
      const redisOptions = {
        ...OWN_IOREDIS_OPTIONS,
        ...(host.startsWith("/") ? { path: host } : { host, port }),
        username: account.user,
        password: account.password,
        tls: encrypts ? { ca: undefined } : undefined,
        connectTimeout: longest,
      };
      const expected = { mysql: mysqlOptions, postgresql: pgOptions, redis: redisOptions, http: httpOptions };
      assert.deepEqual(made, expected[parsed.store], one.url);
    }
    await held.close();
    assert.throws(() => ids.generate());
  }
  delete globalThis[PG_KEY];
  delete globalThis[MYSQL_KEY];
  delete globalThis[IOREDIS_KEY];
  assert.match(
    assertError("out_of_range", () => lease("redis://localhost", "orders")).message,
    /npm install ioredis, or redis/,
  );
  assert.match(assertError("out_of_range", () => lease("postgres://user@host/db", "orders")).message, /npm install pg/);
  assert.match(
    assertError("out_of_range", () => lease("mysql://user@host/db", "orders")).message,
    /npm install mysql2/,
  );
  const addressError = assertError("out_of_range", () => lease("mysql://user@10.0.0.1/db", "orders"));
  assert.match(addressError.message, /expected the name of a host, since mysql2 does not compare/);
});

/** Returns a Redis client whose duplicates record their options and commands, and whose server rejects scripts. */
function redisClient(isIoredis, options) {
  const made = { commands: [] };
  const reply = async (...command) => {
    made.commands.push(command.slice(0, 2));
    if (command[0] === "EVAL") throw new Error("OOM command not allowed when used memory > 'maxmemory'.");
  };
  const methods = isIoredis ? { call: reply } : { sendCommand: (command) => reply(...command) };
  const copy = { ...methods, on() {}, connect: async () => {}, disconnect: () => (made.isClosed = true) };
  const duplicate = (options) => {
    made.options = options;
    return copy;
  };
  return { made, client: { ...methods, options, connect() {}, duplicate } };
}

test("a lease copies a Redis client's settings and never resends a command", async () => {
  const socket = { host: "db", reconnectStrategy: () => 1 };
  const cases = [
    [true, { db: 3, keyPrefix: "app:" }, OWN_IOREDIS_OPTIONS, [["SELECT", "3"]]],
    [false, { socket, database: 3 }, { socket: { host: "db", reconnectStrategy: false } }, []],
  ];
  for (const [isIoredis, options, expected, first] of cases) {
    const { made, client } = redisClient(isIoredis, options);
    await assert.rejects(check(client, "orders"), { code: "lease_unavailable", message: /raise `maxmemory`/ });
    assert.deepEqual(made.options, expected);
    assert.deepEqual(made.commands.slice(0, -1), first);
    assert.equal(made.commands.at(-1)[0], "EVAL");
    assert(made.isClosed);
  }
});

test("an invalid source is rejected", () => {
  assertError("invalid_type", () => lease("sqlite:ids.db?namespace=orders", 7), { field: "namespace" });
  for (const source of [7, null, {}, []])
    assertError("invalid_type", () => lease(source, "orders"), { field: "source" });
  assertError("invalid_type", () => lease(rejectingClient()), { field: "namespace" });
});

/** Runs a program that preloads `polyflake/lease`, with the given environment variables. */
function runPreloaded(program, variables) {
  const options = { env: { ...process.env, ...variables }, encoding: "utf8", cwd: import.meta.dirname };
  return spawnSync(process.execPath, ["--import", "polyflake/lease", "-e", program], options);
}

test("with --import an invalid variable ends a program before it starts", () => {
  for (const url of ["", "gopher://host", "/tmp/a.db", "sqlite::memory:?namespace=orders"]) {
    const { status, stdout, stderr } = runPreloaded("console.log(1)", { POLYFLAKE_LEASE: url });
    assert.equal(status, 1, url);
    assert.equal(stdout, "", url);
    assert.match(stderr, /PolyflakeError: cannot read POLYFLAKE_LEASE: /, url);
  }
});

test("with --import an unknown ID format in the variable ends a program before it starts", () => {
  for (const formats of ["", "randflake", "sno,", "sno hotguid"]) {
    const variables = { POLYFLAKE_LEASE: "sqlite:/ids.db?namespace=orders", POLYFLAKE_FORMATS: formats };
    const { status, stderr } = runPreloaded("console.log(1)", variables);
    assert.equal(status, 1, formats);
    assert.match(stderr, /PolyflakeError: cannot read POLYFLAKE_FORMATS: expected some of sno,hotguid,uuid7, found /);
  }
});

test("with --import an unusable store causes a warning and `ready` rejects", () => {
  const program = `
    import("polyflake/lease").then(({ ready }) => ready()).then(console.log, ({ code, message }) => {
      console.log(code, /does not exist|no such file|unable to open|nowhere/i.test(message));
    });`;
  // Provides an SQLite client class without methods, because Node 20 has no built-in client.
  const fake =
    "process.getBuiltinModule = ((own) => (name) => name === 'node:sqlite' ? { DatabaseSync: class {} } : own(name))(process.getBuiltinModule);";
  const options = {
    env: { ...process.env, POLYFLAKE_LEASE: "sqlite:/nowhere/at/all.db?namespace=orders" },
    encoding: "utf8",
    cwd: import.meta.dirname,
  };
  const data = `data:text/javascript,${encodeURIComponent(fake)}`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", data, "--import", "polyflake/lease", "-e", program],
    options,
  );
  assert.equal(stdout.trim(), "lease_unavailable true");
  assert.equal(status, 0);
  assert.equal(stderr.match(/no lease for the default generators/g)?.length, 1, stderr);
  assert.match(stderr, /\[polyflake_lease\] PolyflakeWarning: no lease for the default generators: .*nowhere/);
});

test("an option of the wrong type is named in the error", () => {
  for (const [field, value] of [
    ["preferredWorkerId", "1"],
    ["requiredWorkerId", 1.5],
    ["leaseMs", "x"],
    ["waitMs", null],
    ["holder", 7],
  ])
    assertError("invalid_type", () => lease(rejectingClient(), "orders", { [field]: value }), { field });
});

test("only an error before the first attempt suggests waiting", async () => {
  const held = lease(rejectingClient({ code: "28P01", severity: "FATAL" }), "orders");
  const ids = new polyflake.sno.Generator({ lease: held });
  assert.match(assertError("lease_unavailable", () => ids.generate()).message, /await lease.ready\(\) first/);
  while (held.status().rejected === null) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.doesNotMatch(assertError("lease_unavailable", () => ids.generate()).message, /await|--import/);
  await held.close();
  assert.throws(
    () => ids.generate(),
    ({ message }) => !/await|--import/.test(message),
  );
});

test("variables without a store are rejected with the value to set", () => {
  const program = `
    const { sno, hotguid, uuid7 } = require("polyflake");
    const { lease } = require("polyflake/lease");
    for (const make of [lease, sno.generate, hotguid.generate, uuid7.generate]) {
      try { console.log(make()); } catch (error) { console.log(error.code, error.message); }
    }`;
  const example = "set it to a URL such as `sqlite:/var/lib/app/ids.db?namespace=orders`";
  const expected = "cannot read POLYFLAKE_LEASE: ";
  for (const [variables, expectedError] of [
    [{ POLYFLAKE_WORKER_ID: "7" }, `lease_unavailable ${expected}POLYFLAKE_WORKER_ID is set without it; ${example}`],
    [{ POLYFLAKE_LEASE: "" }, `out_of_range ${expected}it is empty; ${example}`],
    [{ POLYFLAKE_LEASE: "", POLYFLAKE_WORKER_ID: "7" }, `out_of_range ${expected}it is empty; ${example}`],
  ]) {
    const options = { env: { ...process.env, ...variables }, encoding: "utf8", cwd: import.meta.dirname };
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", program], options);
    assert.equal(stderr, "");
    assert.deepEqual(stdout.trim().split("\n"), Array(4).fill(expectedError));
  }
  const { message } = assertError("lease_unavailable", () => lease());
  assert.equal(message, `${expected}it is not set; ${example}`);
});

test("invalid options are rejected, some only when the generator is created", () => {
  const make = (options) => new polyflake.sno.Generator({ lease: lease(rejectingClient(), "orders", options) });
  assertError("unknown_field", () => make({ lease_ms: 1 }), { field: "lease_ms" });
  assertError("invalid_type", () => make({ workerIds: 3 }));
  assertError("invalid_type", () => make({ waitMs: "1" }), { field: "waitMs" });
  assertError("invalid_type", () => make({ renewMs: "1" }), { field: "renewMs" });
  assertError("invalid_type", () => make({ strict: 1 }), { field: "strict" });
  assertError("out_of_range", () => make({ renewMs: 999 }));
  assertError("invalid_type", () => make({ signals: "SIGTERM" }), { field: "signals" });
  assertError("invalid_type", () => make({ watch: 1 }), { field: "watch" });
  for (const options of [
    { workerIds: [0, 65_536] },
    { requiredWorkerId: 70_000 },
    { leaseMs: 1 },
    { workerIds: [3, 2] },
    { preferredWorkerId: -1 },
    { schema: "a b" },
  ])
    assertError("out_of_range", () => make(options));
  const layout = polyflake.layout.Layout.preset("sonyflake");
  const named = (fields) =>
    new polyflake.layout.Generator(layout, { lease: lease(rejectingClient(), "orders"), fields });
  assertError("out_of_range", () => named(["machine", "machine"]));
  assertError("out_of_range", () => named(["other"]));
  assertError("out_of_range", () => new polyflake.sno.Generator({ lease: lease(rejectingClient(), "no blanks") }));
});

test("a lease serves one generator of one format", async () => {
  const one = lease(rejectingClient(), "orders");
  await assertRejects("lease_mismatch", one.ready());
  assert.deepEqual(
    { ...one.status() },
    { workerId: null, end: null, remainingMs: 0, grants: 0, renewals: 0, failures: 0, gaps: 0, rejected: null },
  );
  new polyflake.sno.Generator({ lease: one });
  assertError("lease_mismatch", () => new polyflake.sno.Generator({ lease: one }));
  assertError("lease_mismatch", () => new polyflake.hotguid.Generator({ lease: one }));
  await one.close();
  const closed = lease(rejectingClient(), "orders");
  await closed.close();
  assertError("lease_mismatch", () => new polyflake.sno.Generator({ lease: closed }));
});

test("a failing store is reported in events, errors and the status", async () => {
  for (const [more, expected] of [
    [{ code: "42501", severity: "ERROR" }, "the role lacks a right: the server says no; "],
    [{ code: "42501" }, "no answer from the server: the server says no"],
  ]) {
    const events = [];
    const watch = (event) => events.push(event);
    const unreachable = lease(rejectingClient(more), "orders", { waitMs: 1000, watch });
    const ids = new polyflake.sno.Generator({ lease: unreachable });
    const { message } = await assertRejects("lease_unavailable", unreachable.ready());
    assert.match(message, /^cannot lease a worker ID for orders\/sno: .*the server says no/);
    assert.equal(assertError("lease_unavailable", () => ids.generate()).message, message);
    const [event] = events;
    assert.deepEqual([event.name, event.code], ["rejected", "lease_unavailable"]);
    assert(event.text.startsWith(`rejected: cannot lease a worker ID for orders/sno: ${expected}`), event.text);
    assert(unreachable.status().failures > 0);
    assert.equal(unreachable.status().rejected.code, "lease_unavailable");
    const closing = unreachable.close();
    assertError("generator_closed", () => ids.generate());
    await closing;
    const since = performance.now();
    await assertRejects("generator_closed", ids.generateAsync());
    assert(performance.now() - since < 900, "it does not wait for a lease");
  }
});

test("close ends all leases", async () => {
  const some = [1, 2, 3].map(() => lease(rejectingClient(), "orders"));
  for (const one of some) new polyflake.sno.Generator({ lease: one });
  await close();
  for (const one of some) await assertRejects("generator_closed", one.ready());
});

test("a client that never connects is abandoned after the wait", async () => {
  const silent = { connect: () => new Promise(() => {}) };
  const unreachable = lease(silent, "orders", { waitMs: 50 });
  const ids = new polyflake.sno.Generator({ lease: unreachable });
  await assertRejects("lease_unavailable", ids.generateAsync());
  await assertRejects("lease_unavailable", unreachable.ready());
  assert.equal(unreachable.status().workerId, null);
});

test("a check of an unresponsive store times out like a lease", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const never = () => new Promise(() => {});
  const client = { on() {}, off() {}, query: () => Promise.reject(new Error("no answer")), end: async () => {} };
  const destroyed = [];
  const silent = (name, more) => async () => ({
    ...client,
    connection: { stream: { destroy: () => destroyed.push(name) } },
    ...more,
  });
  for (const source of [never, silent("query", { query: never }), silent("end", { end: never })]) {
    const ended = assertRejects("lease_unavailable", check(source, "orders"));
    // Lets all pending promises settle before the timer fires.
    for (let k = 0; k < 20; k++) await null;
    t.mock.timers.tick(15_000);
    assert.match((await ended).message, /^cannot lease a worker ID for orders\/sno: /);
  }
  assert.deepEqual(destroyed, ["query", "end"]);
});

test("a check that fails before its first request keeps the cause", async () => {
  const url = "sqlite:/nowhere/at/all.db?namespace=orders";
  const { message, cause } = await assertRejects("lease_unavailable", check(url, undefined, { sqlite: class {} }));
  assert.equal(message, "cannot lease a worker ID from sqlite:/nowhere/at/all.db: the folder does not exist");
  assert.equal(cause.code, "ENOENT");
});

test("a check rejects the terms that a lease rejects", async () => {
  const url = "sqlite:/ids.db?namespace=orders&";
  for (const [terms, variables, reason] of [
    ["lease_seconds=0.1", {}, /expected a lease of at least two ticks/],
    ["lease_seconds=99999999", {}, /expected a lease of at least two ticks/],
    [
      "worker_ids=3-4",
      { POLYFLAKE_WORKER_ID: "7" },
      /cannot use the worker ID in POLYFLAKE_WORKER_ID: .* from 3 to 4, found 7/,
    ],
    ["worker_ids=3-4", { POLYFLAKE_HOLDER: "x".repeat(201) }, /200 bytes/],
    ["sigterm=yes", {}, /`sigterm` can only be/],
  ]) {
    const before = { ...process.env };
    Object.assign(process.env, variables, { POLYFLAKE_LEASE: url + terms });
    try {
      const { message } = await assertRejects("out_of_range", check(undefined, undefined, { sqlite: class {} }));
      assert.match(message, reason);
    } finally {
      process.env = before;
    }
  }
  for (const options of [
    { leaseMs: 1 },
    { requiredWorkerId: 7, workerIds: [3, 4] },
    { workerIds: [4, 3] },
    { preferredWorkerId: 2 ** 53 },
  ])
    await assertRejects("out_of_range", check(rejectingClient(), "orders", options));
});

test("a check waits for a reply as long as a lease does", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const client = { on() {}, off() {}, query: () => new Promise(() => {}), end: async () => {} };
  const ended = assertRejects(
    "lease_unavailable",
    check(async () => client, "orders", { leaseMs: 8000 }),
  );
  for (let k = 0; k < 20; k++) await null;
  t.mock.timers.tick(2000);
  assert.match((await ended).message, /did not answer in time/);
});

test("an unreadable certificate file is reported immediately by name", async () => {
  globalThis[PG_KEY] = { Client: class {} };
  const folder = fs.mkdtempSync(`${tmpdir()}/roots-`);
  fs.writeFileSync(`${folder}/empty.pem`, "");
  for (const file of ["/nowhere/root.pem", folder, `${folder}/empty.pem`]) {
    const url = `postgres://localhost/db?namespace=orders&sslrootcert=${encodeURIComponent(file)}`;
    const expectedText = `cannot read the root certificates in ${file} (\`sslrootcert\`): `;
    assert((await assertRejects("out_of_range", check(url))).message.includes(expectedText));
    const held = lease(url);
    const ids = new polyflake.sno.Generator({ lease: held });
    const began = performance.now();
    assert((await assertRejects("lease_unavailable", held.ready())).message.includes(expectedText));
    assert((await assertRejects("lease_unavailable", ids.generateAsync())).message.includes(expectedText));
    assert(performance.now() - began < 5000);
    await held.close();
  }
  delete globalThis[PG_KEY];
  fs.rmSync(folder, { recursive: true });
});

test("a read-only server is skipped if the URL requests a writable one", async () => {
  const closed = [];
  globalThis[PG_KEY] = {
    Client: class {
      constructor({ host }) {
        this.host = host;
      }
      on() {}
      off() {}
      connect = async () => {};
      query = async ({ text }) => {
        if (text === "SHOW transaction_read_only") return { rows: [["on"]] };
        throw new Error("a statement of the rules");
      };
      end = async () => void closed.push(this.host);
    },
  };
  for (const [hosts, attributes, reason] of [
    ["one", "read-write", "no host of the URL accepts writes: one does not accept writes"],
    ["one,two", "any", "no host of the URL accepts writes: two does not accept writes"],
    ["one", "any", "a statement of the rules"],
  ]) {
    const url = `postgres://${hosts}/db?namespace=orders&sslmode=disable&target_session_attrs=${attributes}`;
    const { message } = await assertRejects("lease_unavailable", check(url));
    assert(message.includes(reason), message);
    assert.deepEqual(closed.splice(0), hosts.split(","));
  }
  delete globalThis[PG_KEY];
});

test("a connection that cannot be closed is ignored", async () => {
  const unhandled = [];
  const note = (error) => unhandled.push(error.message);
  process.on("unhandledRejection", note);
  const fails = () => Promise.reject(new Error("the pool says no"));
  const throws = () => {
    throw new Error("the pool throws");
  };
  for (const release of [fails, throws, () => ({ then: (_, failed) => failed(new Error("a promise of a library")) })]) {
    const query = () => Promise.reject(new Error("the server says no"));
    const pool = { connect: async () => ({ on() {}, off() {}, query, release }) };
    assert.match((await assertRejects("lease_unavailable", check(pool, "orders"))).message, /the server says no/);
    const held = lease(pool, "orders", { waitMs: 50 });
    new polyflake.sno.Generator({ lease: held });
    assert.match((await assertRejects("lease_unavailable", held.ready())).message, /the server says no/);
    await held.close();
  }
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.off("unhandledRejection", note);
  assert.deepEqual(unhandled, []);
});

/** Runs a program with the given environment variables. `before` runs first and prepares the process. */
function runProgram(program, variables, before = "") {
  const options = {
    env: { ...process.env, ...variables },
    encoding: "utf8",
    cwd: import.meta.dirname,
    timeout: 60_000,
  };
  const prepare = `data:text/javascript,${encodeURIComponent(before)}`;
  return spawnSync(process.execPath, ["--import", prepare, "-e", program], options);
}

test("an unknown ID format in the variable ends a program that requires the module, each time", () => {
  const variables = { POLYFLAKE_LEASE: "sqlite:/ids.db?namespace=orders", POLYFLAKE_FORMATS: "randflake" };
  const program = `
    const { sno } = require("polyflake");
    for (const call of [() => require("polyflake/lease"), () => require("polyflake/lease"), sno.generate])
      try { call(); console.log("no error"); } catch ({ name, code, message }) { console.log(name, code, message); }`;
  const { stdout, stderr } = runProgram(program, variables);
  const lines = stdout.trim().split("\n");
  const expectedError =
    "PolyflakeError out_of_range cannot read POLYFLAKE_FORMATS: expected some of sno,hotguid,uuid7, ";
  assert.equal(lines.length, 3, stderr);
  for (const line of lines.slice(0, 2)) assert(line.startsWith(expectedError), line);
  assert.match(lines[2], /^PolyflakeError lease_unavailable /);
});

test("missing Deno permissions are errors with a code and a remedy", () => {
  // Simulates Deno, which throws its own errors if access to variables or the host name is denied.
  const denied = `
    import os from "node:os";
    import { syncBuiltinESMExports } from "node:module";
    const deny = (name) => { throw new Error("NotCapable: " + name); };
    const denied = process.env.DENIED.split(" ");
    process.env = new Proxy(process.env, {
      get: (all, name) => (denied.includes(name) ? deny(name) : all[name]),
    });
    os.hostname = () => deny("hostname");
    process.cwd = () => deny("cwd");
    syncBuiltinESMExports();`;
  const shown = (call) =>
    `try { console.log(${call}) } catch ({ name, code, message, cause }) { console.log(name, code, message, "|", cause.message) };`;
  const remedy =
    "start with deno run --allow-env=POLYFLAKE_LEASE,POLYFLAKE_WORKER_ID,POLYFLAKE_FORMATS,POLYFLAKE_HOLDER";
  const expectedError = (name) =>
    `PolyflakeError lease_unavailable expected the permission to read ${name}, found none: ${remedy} | NotCapable: ${name}`;
  const required = shown('typeof require("polyflake/lease")');
  for (const name of ["POLYFLAKE_LEASE", "POLYFLAKE_WORKER_ID", "POLYFLAKE_FORMATS"]) {
    const { stdout, stderr } = runProgram(required, { DENIED: name }, denied);
    assert.equal(stdout.trim(), expectedError(name), stderr);
  }
  const program = (url) =>
    `const { sno } = require("polyflake"); const { lease } = require("polyflake/lease");
    ${shown(`new sno.Generator({ lease: lease("${url}", "orders", { sqlite: class {} }) }).toString()`)}`;
  const first = runProgram(program("sqlite:/nowhere/ids.db"), { DENIED: "POLYFLAKE_HOLDER" }, denied);
  assert.equal(first.stdout.trim(), expectedError("POLYFLAKE_HOLDER"), first.stderr);
  const named = runProgram(program("sqlite:/nowhere/ids.db"), { DENIED: "" }, denied);
  assert.match(
    named.stdout,
    /^\[?[oO]bject|Generator/,
    `the host name is only a part of a name: ${named.stdout}${named.stderr}`,
  );
  const relative = runProgram(program("sqlite:ids.db"), { DENIED: "" }, denied);
  const expected =
    "PolyflakeError lease_unavailable the working directory is unknown: NotCapable: cwd | NotCapable: cwd";
  assert.equal(relative.stdout.trim(), expected, relative.stderr);
  const server = runProgram(program("postgres://localhost/db"), { DENIED: "" }, denied);
  assert.match(server.stdout, /^PolyflakeError out_of_range expected the module pg, found none: npm install pg/);
});

test("polyflake/lease/pg without pg is an error with a code and a remedy", () => {
  const program = `
    import("polyflake/lease/pg").catch(({ name, code, message }) => console.log(name, code, message)).then(() => {
      try { require("polyflake/lease/pg") } catch ({ name, code, message }) { console.log(name, code, message) }
    });`;
  const { stdout, stderr } = runProgram(program, {});
  const lines = stdout.trim().split("\n");
  assert.equal(lines.length, 2, stderr);
  for (const line of lines)
    assert.match(line, /^PolyflakeError out_of_range expected the module pg, found none: npm install pg/);
});

/** Runs a program that sends itself SIGTERM and thereby releases its lease. Returns the output. */
const runWithSignal = (before, after = "") =>
  runProgram(
    `
    const { sno } = require("polyflake");
    const { close, lease } = require("polyflake/lease");
    const alive = setInterval(() => {}, 1000);
    const rejectingClient = { connect: async () => { throw new Error("no server"); } };
    ${before}
    const held = lease(rejectingClient, "orders", { signals: ["SIGTERM"] });
    const ids = new sno.Generator({ lease: held });
    ${after}
    const isOpen = () => { try { ids.generate() } catch ({ code }) { return code !== "generator_closed" } };
    process.kill(process.pid, "SIGTERM");`,
    {},
  );

test("a signal ends a program without its own listeners after closing the lease", () => {
  const { signal, stdout } = runWithSignal("", 'process.on("exit", () => console.log("exit"));');
  assert.deepEqual([signal, stdout], ["SIGTERM", ""]);
});

test("a program with its own signal listener keeps its lease until it ends", () => {
  for (const listen of ["on", "once"]) {
    const drain = `
      process.${listen}("SIGTERM", () => setTimeout(() => {
        console.log(isOpen());
        clearInterval(alive);
      }, 300));`;
    for (const [before, after] of [
      [drain, ""],
      ["", drain],
    ]) {
      const { signal, status, stdout, stderr } = runWithSignal(
        before,
        `${after} process.on("exit", () => console.log(isOpen()));`,
      );
      assert.deepEqual([signal, status, stdout], [null, 0, "true\nfalse\n"], listen + stderr);
    }
  }
});
