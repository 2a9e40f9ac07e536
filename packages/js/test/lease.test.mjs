// Leases without a store: their options, their places, and the generators that they take. tests/packaging/js/lease has stores.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import * as polyflake from "polyflake";
import { close, lease } from "polyflake/lease";
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

test("a place is refused with its remedy, and without its password", () => {
  for (const [url, namespace, expected] of [
    ["redis://user:secret@host", "orders", /`sqlite:PATH` or `postgres:/],
    ["mysql:", "orders", /`sqlite:PATH` or `postgres:/],
    ["postgres://user:secret@host/db", undefined, /`\?namespace=orders`/],
    ["postgres://user:secret@host/db?namespace=a", "b", /expected one namespace/],
    ["sqlite:", "orders", /path of a file/],
    ["sqlite::memory:", "orders", /database in memory/],
    ["sqlite:ids.db?mode=ro", "orders", /path of a file/],
    ["sqlite:/ids.db?schema=a", "orders", /`schema` in a URL of PostgreSQL/],
    ["postgres://user:secret@host/db?schema=1", "orders", /name of a schema/],
    ["postgres://user:secret@host/db", "orders", /npm install pg/],
  ]) {
    const { message } = refused("out_of_range", () => lease(url, namespace));
    assert.match(message, expected);
    assert(!message.includes("secret"), message);
  }
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
    assert.match(stderr, /PolyflakeError: expected/, url);
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
  const expected = "expected the variable POLYFLAKE_LEASE, as in `sqlite:/var/lib/app/ids.db?namespace=orders`, found ";
  const relative = "a relative path, which is another file in each working directory: write the absolute path";
  const number = "expected a node's number in digits in the variable POLYFLAKE_NODE, found an empty text";
  for (const [variables, refusal] of [
    [{ POLYFLAKE_NODE: "7" }, `lease_unavailable ${expected}POLYFLAKE_NODE alone`],
    [{ POLYFLAKE_LEASE: "" }, `out_of_range ${expected}an empty text`],
    [{ POLYFLAKE_LEASE: "", POLYFLAKE_NODE: "7" }, `out_of_range ${expected}an empty text`],
    [{ POLYFLAKE_LEASE: "sqlite:/ids.db?namespace=orders", POLYFLAKE_NODE: "" }, `out_of_range ${number}`],
    [{ POLYFLAKE_LEASE: "sqlite:ids.db?namespace=orders" }, `out_of_range ${expected}${relative}`],
  ]) {
    const options = { env: { ...process.env, ...variables }, encoding: "utf8", cwd: import.meta.dirname };
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", program], options);
    assert.equal(stderr, "");
    assert.deepEqual(stdout.trim().split("\n"), [refusal, refusal, refusal]);
  }
  const { message } = refused("lease_unavailable", () => lease());
  assert.equal(message, `${expected}none`);
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
    [{ code: "42501", severity: "ERROR" }, "a role with the rights"],
    [{ code: "42501" }, "an answer"],
  ]) {
    const events = [];
    const watch = (event) => events.push(event);
    const away = lease(refusing(more), "orders", { waitMs: 1000, watch });
    const ids = new polyflake.sno.Generator({ lease: away });
    const { message } = await rejected("lease_unavailable", away.ready());
    assert.match(message, /found none yet; last refusal: .*the server says no/);
    assert.equal(refused("lease_unavailable", () => ids.generate()).message, message);
    const [event] = events;
    assert.deepEqual([event.name, event.code], ["refused", "lease_unavailable"]);
    assert(event.text.includes(`expected ${expected}`), event.text);
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
