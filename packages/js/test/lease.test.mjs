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

test("variables that name no store are refused, and say what to set", () => {
  const program = `
    const { sno, hotguid } = require("polyflake");
    const { lease } = require("polyflake/lease");
    for (const make of [lease, sno.generate, hotguid.generate]) {
      try { console.log(make()); } catch (error) { console.log(error.code, error.message); }
    }`;
  const expected = "expected the variable POLYFLAKE_LEASE, as in `sqlite:/var/lib/app/ids.db?namespace=orders`, found ";
  const number = "expected a node's number in digits in the variable POLYFLAKE_NODE, found an empty text";
  for (const [variables, refusal] of [
    [{ POLYFLAKE_NODE: "7" }, `lease_unavailable ${expected}POLYFLAKE_NODE alone`],
    [{ POLYFLAKE_LEASE: "" }, `out_of_range ${expected}an empty text`],
    [{ POLYFLAKE_LEASE: "", POLYFLAKE_NODE: "7" }, `out_of_range ${expected}an empty text`],
    [{ POLYFLAKE_LEASE: "sqlite:ids.db?namespace=orders", POLYFLAKE_NODE: "" }, `out_of_range ${number}`],
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
    const away = lease(refusing(more), "orders", { waitMs: 100, watch });
    const ids = new polyflake.sno.Generator({ lease: away });
    const { message } = await rejected("lease_unavailable", away.ready());
    assert.match(message, /found none yet; last refusal: .*the server says no/);
    assert.match(
      refused("lease_unavailable", () => ids.generate()).message,
      /await lease\.ready\(\).*generateAsync.*--import polyflake\/lease/,
    );
    const [event] = events;
    assert.deepEqual([event.name, event.code], ["refused", "lease_unavailable"]);
    assert(event.text.includes(`expected ${expected}`), event.text);
    assert(away.status().failures > 0);
    assert.equal(away.status().refused.code, "lease_unavailable");
    await away.close();
    refused("lease_unavailable", () => ids.generate());
  }
});

test("close returns the numbers of all leases", async () => {
  const some = [1, 2, 3].map(() => lease(refusing(), "orders"));
  for (const one of some) new polyflake.sno.Generator({ lease: one });
  await close();
  for (const one of some) await rejected("lease_unavailable", one.ready());
});

test("a client that never answers is given up, and a number that nobody has is returned at once", async () => {
  const silent = { connect: () => new Promise(() => {}) };
  const away = lease(silent, "orders", { waitMs: 50 });
  const ids = new polyflake.sno.Generator({ lease: away });
  await rejected("lease_unavailable", ids.generateAsync());
  await rejected("lease_unavailable", away.ready());
  assert.equal(away.status().number, null);
});
