// Tests leases and the generators that use them, in this process, with each store.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, renameSync } from "node:fs";
import process, { env } from "node:process";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { hotguid, layout, randflake, sno } from "polyflake";
import { lease } from "polyflake/lease";
import { STORE_FACTORIES } from "./places.mjs";

const assertUnavailable = (call, code = "lease_unavailable") => assert.throws(call, { name: "PolyflakeError", code });
/** The stores for which this Node version has a client. */
const { "node:sqlite": _, ...HERE } = STORE_FACTORIES;

for (const [name, createStore] of Object.entries(HERE)) {
  describe(name, { concurrency: false }, () => {
    test("a generator of each format leases a worker ID and reports events and its status", async () => {
      const { url } = createStore();
      const events = [];
      const make = () => lease(url, undefined, { watch: ({ name }) => events.push(name) });
      const leases = [make(), make(), make(), make()];
      const sonyflake = layout.Layout.preset("sonyflake");
      const secret = new Uint8Array(16).fill(3);
      const [s, h, r, l] = [
        new sno.Generator({ lease: leases[0] }),
        new hotguid.Generator({ lease: leases[1] }),
        new randflake.Generator(leases[2], secret),
        new layout.Generator(sonyflake, { lease: leases[3], fields: ["machine"] }),
      ];
      const ids = await Promise.all([s, h, r, l].map((generator) => generator.generateAsync()));
      const workerIds = leases.map((lease) => lease.status().workerId);
      const [, , one, two, three] = [0, 0, ...hotguid.parts(ids[1]).machine];
      assert.deepEqual(workerIds, [
        sno.parse(ids[0]).partition,
        (one << 16) | (two << 8) | three,
        r.inspect(ids[2]).node,
        sonyflake.parse(ids[3]).bindables.machine,
      ]);
      const { end, remainingMs, ...metrics } = leases[0].status();
      const expected = { workerId: workerIds[0], grants: 1, renewals: 0, failures: 0, gaps: 0, rejected: null };
      assert.deepEqual(metrics, expected);
      assert(remainingMs > 3_500_000 && Math.abs(end - Date.now() - remainingMs) < 1000);
      await Promise.all(leases.map((lease) => lease.close()));
      assert.deepEqual([...new Set(events)], ["acquired", "sealed"]);
      for (const generator of [s, h, r, l]) assertUnavailable(() => generator.generate(), "generator_closed");
      const again = new sno.Generator({ lease: lease(url, undefined, { preferredWorkerId: workerIds[0] }) });
      assert.equal(sno.parse(await again.generateAsync()).partition, workerIds[0]);
    });

    test("an event loop blocked past the lease makes no IDs until the next grant", async () => {
      const { url } = createStore();
      const held = lease(url, undefined, { leaseMs: 1500 });
      const ids = new sno.Generator({ lease: held });
      await held.ready();
      const { end } = held.status();
      let last;
      for (const blocked = Date.now() + 2500; Date.now() < blocked; ) {
        try {
          last = sno.parse(ids.generate()).timestamp.getTime();
        } catch (error) {
          assert.equal(error.code, "lease_unavailable");
          assert.match(error.message, /ended at 20.* without a renewal/);
          assert(Date.now() >= end - 10);
        }
      }
      assert(last < end && last > end - 100, `${last - end}`);
      assertUnavailable(() => ids.generate());
      const next = sno.parse(await ids.generateAsync());
      assert(next.timestamp.getTime() >= end);
      await held.close();
    });

    test("a strict lease holds IDs back after a gap, until the store confirms it", async () => {
      const now = performance.now.bind(performance);
      for (const strict of [true, false]) {
        const [{ url }, events] = [createStore(), []];
        const held = lease(url, undefined, { strict, watch: ({ name }) => events.push(name) });
        const ids = new sno.Generator({ lease: held });
        await held.ready();
        ids.generate();
        // Stop the monotonic clock and the event loop, as happens when a process image is restored a few seconds after
        // it was saved.
        const stopped = now();
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3500);
        const lost = now() - stopped;
        performance.now = () => now() - lost;
        try {
          if (!strict) {
            ids.tryGenerate();
            continue;
          }
          assertUnavailable(() => ids.tryGenerate());
          assertUnavailable(() => ids.generateMany(2));
          const resumed = now();
          while (!events.includes("renewed")) await sleep(10);
          ids.generate();
          assert(now() - resumed < 2500, `${now() - resumed}`);
          assert.deepEqual(events, ["acquired", "gap", "renewed"]);
        } finally {
          delete performance.now;
          await held.close();
        }
      }
    });

    test("another secret or range is rejected immediately with the reason", async () => {
      const { url } = createStore();
      const held = lease(url, undefined, { workerIds: [0, 7] });
      await new sno.Generator({ lease: held }).generateAsync();
      const other = lease(url, undefined, { workerIds: [0, 15], waitMs: 60_000 });
      new sno.Generator({ lease: other });
      const began = Date.now();
      await assert.rejects(other.ready(), /namespace/);
      assert(Date.now() - began < 10_000, `${Date.now() - began} ms`);
      assert.equal(other.status().rejected.code, "namespace_mismatch");
      await Promise.all([held.close(), other.close()]);
    });

    test("a second process waits for the only worker ID and gets it once released", async () => {
      const { url } = createStore();
      const [one, two] = [1, 2].map(() => lease(url, undefined, { workerIds: [5, 5], waitMs: 400, leaseMs: 5000 }));
      const first = await new sno.Generator({ lease: one }).generateAsync();
      const second = new sno.Generator({ lease: two });
      const hasRetryTime = ({ code, retryAt }) => {
        assert.deepEqual([code, retryAt], ["lease_unavailable", two.status().rejected.until]);
        return retryAt > Date.now();
      };
      await assert.rejects(two.ready(), hasRetryTime);
      assert.throws(() => second.generate(), hasRetryTime);
      assert.equal(two.status().rejected.code, "worker_ids_exhausted");
      await one.close();
      // After a call has waited unsuccessfully, further calls fail immediately until the next grant, which can take
      // half a second.
      const isUnavailable = (error) => assert.equal(error.code, "lease_unavailable");
      let id;
      for (let k = 0; k < 100 && !id; k++) {
        id = await second.generateAsync().catch(isUnavailable);
        await sleep(50);
      }
      assert.notEqual(id, first);
      assert.equal(sno.parse(id).partition, 5);
      await two.close();
    });
  });
}

test("a copied file starts a quiet time, and an in-memory file is rejected", async () => {
  const folder = mkdtempSync("leases-");
  const at = (path, waitMs) => lease(`sqlite:${path}?allow=overlayfs`, "orders", { waitMs });
  const held = at(`${folder}/ids.db`);
  await new sno.Generator({ lease: held }).generateAsync();
  await held.close();
  copyFileSync(`${folder}/ids.db`, `${folder}/copy.db`);
  const copied = at(`${folder}/copy.db`, 300);
  new sno.Generator({ lease: copied });
  await assert.rejects(copied.ready(), { code: "lease_unavailable" });
  assert.equal(copied.status().rejected.code, "store_changed");
  await copied.close();
  renameSync(`${folder}/ids.db`, `${folder}/moved.db`);
  const moved = at(`${folder}/moved.db`, 3000);
  new sno.Generator({ lease: moved });
  await moved.ready();
  await moved.close();
  const inMemory = at("/dev/shm/polyflake-ids.db", 200);
  new sno.Generator({ lease: inMemory });
  await assert.rejects(inMemory.ready(), /tmpfs/);
  await inMemory.close();
});

test("roles of one database share one store, with a configurable schema", {
  skip: !env.PGHOST,
}, async () => {
  const owner = new pg.Client({ host: env.PGHOST, user: "test", database: "postgres" });
  await owner.connect();
  const database = `roles_${process.pid}`;
  await owner.query(`CREATE DATABASE ${database}`);
  for (const role of ["js_a", "js_b"]) await owner.query(`CREATE ROLE ${role} LOGIN SUPERUSER`);
  const at = (role, more = "") => `postgres://${role}@/${database}?host=${encodeURIComponent(env.PGHOST)}${more}`;
  const workerIdOf = async (source, options) => {
    const held = lease(source, "orders", options);
    new sno.Generator({ lease: held });
    const workerId = await held.ready().catch(() => held.status().rejected.message);
    return { held, workerId };
  };
  const pool = new pg.Pool({ host: env.PGHOST, user: "js_a", database });
  const taken = [];
  // If all records are taken, the number of records doubles, and a holder claims a random free record. Therefore, four
  // holders receive the worker IDs 0 to 3.
  const workerIdsOf = async (...sources) => {
    const workerIds = [];
    for (const [source, options] of sources) {
      const { held, workerId } = await workerIdOf(source, options);
      taken.push(held);
      workerIds.push(workerId);
    }
    return workerIds.sort();
  };
  const searchPathUrl = at("js_b", "&options=-c%20search_path%3Djs_b");
  assert.deepEqual(await workerIdsOf([at("js_a")], [at("js_b")], [searchPathUrl], [pool]), [0, 1, 2, 3]);
  const [rejected] = await workerIdsOf([at("js_a", "&schema=ids"), { waitMs: 300 }]);
  assert.match(rejected, /"polyflake" and none in "ids"/);
  // The rejected lease keeps retrying and would lease a worker ID from the second store, so close it.
  await taken.pop().close();
  const second = [at("js_a", "&schema=ids&create=second-store")];
  assert.deepEqual(await workerIdsOf(second, [pool, { schema: "ids" }]), [0, 1]);
  await Promise.all(taken.map((held) => held.close()));
  await pool.end();
  // The database and its roles are deleted with the server.
  await owner.end();
});

test("pools and functions provide one client per request, and silent clients are discarded", {
  skip: !env.PGHOST,
}, async () => {
  const server = { host: env.PGHOST, user: "test", database: "postgres" };
  const pool = new pg.Pool({ ...server, max: 1 });
  const connect = async () => {
    const client = new pg.Client(server);
    await client.connect();
    return client;
  };
  for (const source of [pool, connect]) {
    const held = lease(source, `given-${process.pid}`);
    const ids = new sno.Generator({ lease: held });
    await held.ready();
    ids.generate();
    await held.close();
  }
  assert.deepEqual([pool.totalCount, pool.idleCount], [1, 1]);
  const lost = [];
  let queries = 0;
  const silentDriver = {
    async connect() {
      const client = await pool.connect();
      const { query, release } = client;
      const silent = () => new Promise(() => {});
      client.query = (...given) => (++queries === 3 ? silent() : query.apply(client, given));
      client.release = (isLost) => (lost.push(isLost), release.call(client, isLost));
      return client;
    },
  };
  const held = lease(silentDriver, `silentDriver-${process.pid}`, { leaseMs: 4000 });
  const ids = new sno.Generator({ lease: held });
  await held.ready();
  ids.generate();
  assert.equal(lost[0], true);
  assert(held.status().failures > 0);
  await held.close();
  await sleep(50);
  await pool.end();
});
