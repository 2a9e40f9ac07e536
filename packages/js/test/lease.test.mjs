// Leases without a store: their options, their places, and the generators that they take. tests/packaging/js/lease has stores.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import * as polyflake from "polyflake";
import { check, close, lease } from "polyflake/lease";
import { refused, rejected } from "./refusals.mjs";

/** A client of pg whose server refuses each statement. */
const refusing = (more = {}) => ({
  connect: async () => ({
    on() {},
    off() {},
    query: () => Promise.reject(Object.assign(new Error("the server says no"), more)),
    release(isLost) {
      this.isLost = isLost;
    },
  }),
});

const URLS = JSON.parse(readFileSync(new URL("../../../tests/leases/urls.json", import.meta.url), "utf8")).cases;
const PG = Symbol.for("polyflake.pg");

/** Runs a call with the variables, or without them. */
function under({ variable, url, node }, call) {
  const before = { ...process.env };
  if (variable) process.env.POLYFLAKE_LEASE = url;
  if (node !== undefined) process.env.POLYFLAKE_NODE = node;
  try {
    return call(variable ? undefined : url);
  } finally {
    process.env = before;
  }
}

/** The numbers of file systems on Linux. */
const [EXT4, OVERLAYFS] = [0xef53n, 0x794c7630n];

test("URLs are read as in every language", async (t) => {
  // A class of pg that notes how it is made, and one of SQLite that notes its path, whose file exists on the file system `type`.
  let made;
  globalThis[PG] = {
    Client: class {
      constructor(options) {
        made = options;
      }
      on() {}
      connect = () => Promise.reject(new Error("no server"));
      end = async () => {};
    },
  };
  class Database {
    constructor(path) {
      made = path;
      throw new Error("no file");
    }
  }
  let type;
  t.mock.method(fs, "openSync", () => {
    throw Object.assign(new Error("the file exists"), { code: "EEXIST" });
  });
  t.mock.method(fs, "statSync", () => ({ ino: 1n, birthtimeMs: 1n }));
  t.mock.method(fs, "statfsSync", () => ({ type }));
  const { mock } = t.mock.method(JSON, "stringify");
  /** The settings with which the last lease began, as the rules get them. */
  const settings = () => JSON.parse(mock.calls.findLast(({ result }) => result?.includes('"holder":')).result);
  let catches = false;
  for (const one of URLS) {
    const { namespace, node, place, error } = one;
    const make = (url) => lease(url, namespace, { sqlite: Database });
    if (error) {
      const { message } = under(one, (url) => refused(error.code, () => make(url)));
      for (const said of error.says) assert(message.includes(said), `${one.url}: ${message}`);
      assert(!message.includes("sesame"), message);
      continue;
    }
    if (place.store === "postgresql" && place.server.roots !== null) continue;
    type = place.allows_overlayfs ? OVERLAYFS : EXT4;
    made = undefined;
    const held = under(one, make);
    const ids = new polyflake.sno.Generator({ lease: held });
    while (held.status().refused === null) await new Promise((resolve) => setTimeout(resolve, 5));
    const begun = settings();
    assert.deepEqual(begun, {
      holder: begun.holder,
      family: "sno",
      store: place.store,
      place: place.place,
      namespace: place.namespace,
      node: place.node ?? null,
      schema: place.schema ?? null,
      create: place.create ?? null,
      lease_ms: place.lease_ms ?? null,
      numbers: place.numbers ?? null,
      wait_ms: place.wait_ms ?? (node === undefined ? 10_000 : 70_000),
    });
    catches ||= place.sigterm ?? false;
    assert.equal(process.listenerCount("SIGTERM") > 0, catches, one.url);
    if (place.store === "sqlite") assert.equal(made, resolve(place.path), one.url);
    else {
      const { hosts, user, password, database, encrypts, application_name, options, connect_timeout } = place.server;
      const [host, port] = hosts.at(-1);
      assert.deepEqual(made, {
        host,
        port,
        user: user ?? undefined,
        password: password ?? undefined,
        database: database ?? undefined,
        ssl: encrypts && { ca: undefined },
        application_name,
        options: options ?? undefined,
        connectionTimeoutMillis: Math.min(connect_timeout ?? 10, 10) * 1000,
      });
    }
    await held.close();
    assert.throws(() => ids.generate());
  }
  delete globalThis[PG];
  assert.match(refused("out_of_range", () => lease("postgres://user@host/db", "orders")).message, /npm install pg/);
});

test("a source that is none is refused", () => {
  refused("invalid_type", () => lease("sqlite:ids.db?namespace=orders", 7), { field: "namespace" });
  for (const source of [7, null, {}, []]) refused("invalid_type", () => lease(source, "orders"), { field: "source" });
  refused("invalid_type", () => lease(refusing()), { field: "namespace" });
});

/** Runs a program under the variables and a preload of `polyflake/lease`. */
function preloaded(program, variables) {
  const options = { env: { ...process.env, ...variables }, encoding: "utf8", cwd: import.meta.dirname };
  return spawnSync(process.execPath, ["--import", "polyflake/lease", "-e", program], options);
}

test("a wrong variable ends a program before it begins, under --import", () => {
  for (const url of ["", "gopher://host", "/tmp/a.db", "sqlite::memory:?namespace=orders"]) {
    const { status, stdout, stderr } = preloaded("console.log(1)", { POLYFLAKE_LEASE: url });
    assert.equal(status, 1, url);
    assert.equal(stdout, "", url);
    assert.match(stderr, /PolyflakeError: cannot read POLYFLAKE_LEASE: /, url);
  }
});

test("an unknown ID format in the variable ends a program before it begins, under --import", () => {
  for (const formats of ["", "randflake", "sno,", "sno hotguid"]) {
    const variables = { POLYFLAKE_LEASE: "sqlite:/ids.db?namespace=orders", POLYFLAKE_FORMATS: formats };
    const { status, stderr } = preloaded("console.log(1)", variables);
    assert.equal(status, 1, formats);
    assert.match(stderr, /PolyflakeError: cannot read POLYFLAKE_FORMATS: expected sno, hotguid or sno,hotguid, found /);
  }
});

test("a store that cannot be used is a warning under --import, and `ready` rejects with the reason", () => {
  const program = `
    import("polyflake/lease").then(({ ready }) => ready()).then(console.log, ({ code, message }) => {
      console.log(code, /does not exist|no such file|unable to open|nowhere/i.test(message));
    });`;
  // The class of a client that opens nothing, since Node 20 has none.
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

test("an option of a wrong type is refused by its own name", () => {
  for (const [field, value] of [
    ["prefer", "1"],
    ["insist", 1.5],
    ["leaseMs", "x"],
    ["waitMs", null],
    ["holder", 7],
  ])
    refused("invalid_type", () => lease(refusing(), "orders", { [field]: value }), { field });
});

test("only a lease that nothing has come of yet is a matter of waiting", async () => {
  const held = lease(refusing({ code: "28P01", severity: "FATAL" }), "orders");
  const ids = new polyflake.sno.Generator({ lease: held });
  assert.match(refused("lease_unavailable", () => ids.generate()).message, /await lease.ready\(\) first/);
  while (held.status().refused === null) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.doesNotMatch(refused("lease_unavailable", () => ids.generate()).message, /await|--import/);
  await held.close();
  assert.throws(
    () => ids.generate(),
    ({ message }) => !/await|--import/.test(message),
  );
});

test("variables that name no store are refused, and say what to set", () => {
  const program = `
    const { sno, hotguid } = require("polyflake");
    const { lease } = require("polyflake/lease");
    for (const make of [lease, sno.generate, hotguid.generate]) {
      try { console.log(make()); } catch (error) { console.log(error.code, error.message); }
    }`;
  const example = "set it to a URL such as `sqlite:/var/lib/app/ids.db?namespace=orders`";
  const expected = "cannot read POLYFLAKE_LEASE: ";
  for (const [variables, refusal] of [
    [{ POLYFLAKE_NODE: "7" }, `lease_unavailable ${expected}POLYFLAKE_NODE is set without it; ${example}`],
    [{ POLYFLAKE_LEASE: "" }, `out_of_range ${expected}it is empty; ${example}`],
    [{ POLYFLAKE_LEASE: "", POLYFLAKE_NODE: "7" }, `out_of_range ${expected}it is empty; ${example}`],
  ]) {
    const options = { env: { ...process.env, ...variables }, encoding: "utf8", cwd: import.meta.dirname };
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", program], options);
    assert.equal(stderr, "");
    assert.deepEqual(stdout.trim().split("\n"), [refusal, refusal, refusal]);
  }
  const { message } = refused("lease_unavailable", () => lease());
  assert.equal(message, `${expected}it is not set; ${example}`);
});

test("options are checked, the rules' own with the generator", () => {
  const make = (options) => new polyflake.sno.Generator({ lease: lease(refusing(), "orders", options) });
  refused("unknown_field", () => make({ lease_ms: 1 }), { field: "lease_ms" });
  refused("invalid_type", () => make({ numbers: 3 }));
  refused("invalid_type", () => make({ waitMs: "1" }), { field: "waitMs" });
  refused("invalid_type", () => make({ signals: "SIGTERM" }), { field: "signals" });
  refused("invalid_type", () => make({ watch: 1 }), { field: "watch" });
  for (const options of [
    { numbers: [0, 65_536] },
    { insist: 70_000 },
    { leaseMs: 1 },
    { numbers: [3, 2] },
    { prefer: -1 },
    { schema: "a b" },
  ])
    refused("out_of_range", () => make(options));
  const layout = polyflake.layout.Layout.preset("sonyflake");
  const named = (fields) => new polyflake.layout.Generator(layout, { lease: lease(refusing(), "orders"), fields });
  refused("out_of_range", () => named(["machine", "machine"]));
  refused("out_of_range", () => named(["other"]));
  refused("out_of_range", () => new polyflake.sno.Generator({ lease: lease(refusing(), "no blanks") }));
});

test("a lease has one generator, and no family but that", async () => {
  const one = lease(refusing(), "orders");
  await rejected("lease_mismatch", one.ready());
  assert.deepEqual(
    { ...one.status() },
    { number: null, end: null, remainingMs: 0, grants: 0, renewals: 0, failures: 0, refused: null },
  );
  new polyflake.sno.Generator({ lease: one });
  refused("lease_mismatch", () => new polyflake.sno.Generator({ lease: one }));
  refused("lease_mismatch", () => new polyflake.hotguid.Generator({ lease: one }));
  await one.close();
  const closed = lease(refusing(), "orders");
  await closed.close();
  refused("lease_mismatch", () => new polyflake.sno.Generator({ lease: closed }));
});

test("a store that refuses is told by events, errors and figures; a server's code is known, a system's is none", async () => {
  for (const [more, expected] of [
    [{ code: "42501", severity: "ERROR" }, "the role lacks a right: the server says no; "],
    [{ code: "42501" }, "no answer from the server: the server says no"],
  ]) {
    const events = [];
    const watch = (event) => events.push(event);
    const away = lease(refusing(more), "orders", { waitMs: 1000, watch });
    const ids = new polyflake.sno.Generator({ lease: away });
    const { message } = await rejected("lease_unavailable", away.ready());
    assert.match(message, /^cannot lease a worker ID for orders\/sno: .*the server says no/);
    assert.equal(refused("lease_unavailable", () => ids.generate()).message, message);
    const [event] = events;
    assert.deepEqual([event.name, event.code], ["refused", "lease_unavailable"]);
    assert(event.text.startsWith(`refused: cannot lease a worker ID for orders/sno: ${expected}`), event.text);
    assert(away.status().failures > 0);
    assert.equal(away.status().refused.code, "lease_unavailable");
    const closing = away.close();
    refused("generator_closed", () => ids.generate());
    await closing;
    const since = performance.now();
    await rejected("generator_closed", ids.generateAsync());
    assert(performance.now() - since < 900, "it does not wait for a lease");
  }
});

test("close returns the numbers of all leases", async () => {
  const some = [1, 2, 3].map(() => lease(refusing(), "orders"));
  for (const one of some) new polyflake.sno.Generator({ lease: one });
  await close();
  for (const one of some) await rejected("generator_closed", one.ready());
});

test("a client that never answers is given up, and a number that nobody has is returned at once", async () => {
  const silent = { connect: () => new Promise(() => {}) };
  const away = lease(silent, "orders", { waitMs: 50 });
  const ids = new polyflake.sno.Generator({ lease: away });
  await rejected("lease_unavailable", ids.generateAsync());
  await rejected("lease_unavailable", away.ready());
  assert.equal(away.status().number, null);
});

test("a check of a store that never answers ends, with the limits of a lease", async (t) => {
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
    const ended = rejected("lease_unavailable", check(source, "orders"));
    // The promises before the timer.
    for (let k = 0; k < 20; k++) await null;
    t.mock.timers.tick(15_000);
    assert.match((await ended).message, /^cannot lease a worker ID for orders\/sno: /);
  }
  assert.deepEqual(destroyed, ["query", "end"]);
});

test("a check that fails before its first request keeps the cause", async () => {
  const url = "sqlite:/nowhere/at/all.db?namespace=orders";
  const { message, cause } = await rejected("lease_unavailable", check(url, undefined, { sqlite: class {} }));
  assert.equal(message, "cannot lease a worker ID from sqlite:/nowhere/at/all.db: the folder does not exist");
  assert.equal(cause.code, "ENOENT");
});
