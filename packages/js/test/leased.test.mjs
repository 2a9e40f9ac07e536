// Tests generators of each format with a simulated lease that begins, extends and seals their grants.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { assertError, assertRejects, NOW } from "./assertions.mjs";
import { onEachMachine } from "./machines.mjs";

const LEASE_KEY = Symbol.for("polyflake.lease");
const MINUTE = 60_000;
const SECRET = new Uint8Array(16).fill(7);

/** A simulated lease whose grants are controlled by the test. */
class SimulatedLease {
  constructor(longest = 300) {
    this.longest = longest;
  }
  ready() {}
  close() {}
  [LEASE_KEY](grantee) {
    this.grantee = grantee;
    const reason = () => ({ message: "expected a lease, found none yet", until: NOW + 5, permanent: false });
    return { reason, longest: this.longest, granted: false, closed: false, attached() {} };
  }
}

/**
 * Returns functions that create a generator of each format with a simulated lease. `number` reads the worker ID from an
 * ID.
 */
const familiesOf = ({ hotguid, layout, randflake, sno, uuid7 }) => {
  const sonyflake = layout.Layout.preset("sonyflake", { machine: 3 });
  const twitter = layout.Layout.preset("twitter");
  const inspector = new randflake.Generator(new randflake.Grant(0, 1_730_000_000, 1_730_000_001), SECRET);
  const numberOf = (machine) => (machine[0] << 16) | (machine[1] << 8) | machine[2];
  return {
    sno: {
      tick: 4,
      make: (lease, more) => new sno.Generator({ lease, ...more }),
      number: (id) => sno.parse(id).partition,
      settings: { family: "sno" },
    },
    hotguid: {
      tick: 1000,
      make: (lease, more) => new hotguid.Generator({ lease, ...more }),
      number: (id) => numberOf(hotguid.parts(id).machine),
      settings: { family: "hotguid" },
    },
    uuid7: {
      tick: 1,
      make: (lease, more) => new uuid7.Generator({ lease, ...more }),
      number: (id) => uuid7.workerId(id),
      settings: { family: "uuid7" },
    },
    randflake: {
      tick: 1000,
      make: (lease, more) => new randflake.Generator(lease, SECRET, more),
      number: (id) => inspector.inspect(id).node,
      settings: { family: "randflake", secret: "07".repeat(16) },
    },
    "layout of a constant": {
      tick: 10,
      make: (lease, more) => new layout.Generator(sonyflake, { lease, fields: ["machine"], ...more }),
      number: (id) => sonyflake.parse(id).constants.machine,
      settings: { family: "layout", layout: sonyflake.toJson(), fields: ["machine"] },
    },
    "layout of two bindables": {
      tick: 1,
      make: (lease, more) => new layout.Generator(twitter, { lease, fields: ["datacenter", "worker"], ...more }),
      number: (id) => twitter.parse(id).bindables.datacenter * 32 + twitter.parse(id).bindables.worker,
      settings: { family: "layout", layout: twitter.toJson(), fields: ["datacenter", "worker"] },
    },
  };
};

onEachMachine((polyflake, machine) => {
  const title = machine === "native" ? "a random sequence in the lower half" : "its first sequence";
  test(`each tick of a sno grant starts at ${title}`, () => {
    let now = NOW;
    const lease = new SimulatedLease();
    const ids = new polyflake.sno.Generator({ lease, testClock: () => now });
    lease.grantee.begin(7, NOW, NOW + MINUTE);
    const starts = new Set();
    for (let tick = 0; tick < 100; tick++, now += 4) {
      const [first, ...others] = [ids.generate(), ...ids.generateMany(499)].map(
        (id) => polyflake.sno.parse(id).sequence,
      );
      assert(first < 32_768, `${first}`);
      assert.deepEqual(
        others,
        Array.from({ length: 499 }, (_, k) => first + 1 + k),
      );
      starts.add(first);
    }
    if (machine === "native") assert(starts.size > 50, `${starts.size} starts in 100 ticks`);
    else assert.deepEqual([...starts], [0]);
  });

  for (const [family, { make, number, settings, tick }] of Object.entries(familiesOf(polyflake))) {
    const start = () => Math.floor(Date.now() / 1000) * 1000 - 1000;
    const begun = (first = 7, more = {}, longest = undefined) => {
      const lease = new SimulatedLease(longest);
      const ids = make(lease, more);
      lease.grantee.begin(first, start(), start() + MINUTE);
      return { ids, grantee: lease.grantee };
    };

    test(`${family}: a generator makes IDs of its worker ID only after its first grant`, () => {
      const lease = new SimulatedLease();
      const ids = make(lease);
      assert.deepEqual(
        { ...lease.grantee.settings },
        { secret: undefined, layout: undefined, fields: undefined, ...settings },
      );
      for (const call of [
        () => ids.generate(),
        () => ids.tryGenerate(),
        () => ids.generateMany(2),
        () => ids.tryGenerateMany(2),
      ]) {
        assertError("lease_unavailable", call, { retryAt: NOW + 5, message: "expected a lease, found none yet" });
      }
      assert.equal(lease.grantee.seal(), undefined);
      lease.grantee.begin(1021, start(), start() + MINUTE);
      assert.equal(number(ids.generate()), 1021);
      const many = [...ids.generateMany(3000)];
      assert.deepEqual([...new Set(many.map(number))], [1021]);
      assert.equal(new Set(many).size, 3000);
    });

    test(`${family}: a sealed grant makes no IDs and ends with the last used tick`, async () => {
      const { ids, grantee } = begun();
      const before = Date.now();
      ids.generate();
      ids.generate();
      const end = grantee.seal();
      assert(end > before - tick && end <= Date.now() + tick, `${end - before}`);
      assertError("lease_unavailable", () => ids.generate());
      assert.equal(grantee.seal(), undefined);
      assert.equal(begun().grantee.seal(), undefined);
    });

    test(`${family}: every call of a closed generator fails immediately, and its last tick is known`, async () => {
      const before = Date.now();
      const [made, sealed, unused] = [7, 7, 7].map((first) => begun(first, {}, MINUTE));
      const waiting = { lease: new SimulatedLease(MINUTE) };
      waiting.ids = make(waiting.lease);
      waiting.grantee = waiting.lease.grantee;
      made.ids.generate();
      sealed.grantee.seal();
      const late = assertRejects("generator_closed", waiting.ids.generateAsync());
      for (const { ids, grantee } of [made, sealed, unused, waiting]) {
        grantee.close();
        grantee.close();
        const started = performance.now();
        assertError("generator_closed", () => ids.generate());
        assertError("generator_closed", () => ids.tryGenerate());
        assertError("generator_closed", () => ids.generateMany(2), { written: 0 });
        assertError("generator_closed", () => ids.tryGenerateMany(2), { written: 0 });
        await assertRejects("generator_closed", ids.generateAsync());
        await assertRejects("generator_closed", ids.generateManyAsync(2));
        assert(performance.now() - started < MINUTE / 2, "no call waits for a lease");
        if (ids !== made.ids) assert.equal(grantee.seal(), undefined);
        assertError("generator_closed", () => grantee.begin(8, start(), start() + MINUTE));
      }
      await late;
      const end = made.grantee.seal();
      assert(end > before - tick && end <= Date.now() + tick, `${end - before}`);
    });

    test(`${family}: a grant sealed before its start or after its end makes no IDs`, async () => {
      let now = Date.now();
      for (const at of [start() - MINUTE, start() + 2 * MINUTE]) {
        const lease = new SimulatedLease();
        const ids = make(lease, { testClock: () => now });
        lease.grantee.begin(7, start(), start() + MINUTE);
        now = at;
        const waiting = assertRejects("lease_unavailable", ids.generateAsync());
        try {
          assert.equal(lease.grantee.seal(), undefined);
        } catch (error) {
          // If the generator's last use is unknown, sealing must fail instead of reporting that the generator was never
          // used.
          assert.equal(error.code, "lease_unavailable");
        }
        now = start() + 1500;
        assertError("lease_unavailable", () => ids.generate());
        await waiting;
        lease.grantee.begin(8, start(), start() + MINUTE);
        // On a busy machine, the grant may begin later than the time set above.
        now = start() + 1500;
        assert.equal(number(ids.generate()), 8);
      }
    });

    test(`${family}: an extension reopens an expired window`, () => {
      let now = Date.now();
      const lease = new SimulatedLease();
      const ids = make(lease, { testClock: () => now });
      const end = start() + 4000;
      lease.grantee.begin(7, start(), end);
      assert.equal(lease.grantee.now(), now);
      ids.generate();
      now = end;
      assertError("lease_unavailable", () => ids.generate());
      lease.grantee.extend(end + MINUTE);
      assert.equal(number(ids.generate()), 7);
      now = end + MINUTE;
      assertError("lease_unavailable", () => ids.generate());
      assert(lease.grantee.seal() <= end + Math.max(tick, 1000));
    });

    test(`${family}: a reassigned worker ID repeats no tick`, () => {
      let now = Date.now();
      const lease = new SimulatedLease();
      const ids = make(lease, { testClock: () => now });
      const seen = new Set();
      const from = start();
      for (const first of [7, 8, 7, 7]) {
        lease.grantee.begin(first, from, from + MINUTE);
        if (seen.size > 0) assertError("lease_unavailable", () => ids.generate());
        now += tick;
        const id = ids.generate();
        assert.equal(number(id), first);
        seen.add(id);
      }
      assert.equal(seen.size, 4);
    });

    test(`${family}: waiting calls use the next grant or fail after the lease's maximum wait`, async () => {
      const lease = new SimulatedLease();
      const ids = make(lease);
      const promises = [ids.generateAsync(), ids.generateManyAsync(5)];
      setTimeout(() => lease.grantee.begin(9, start(), start() + MINUTE), 30);
      const [one, many] = await Promise.all(promises);
      assert.deepEqual([...many, one].map(number), [9, 9, 9, 9, 9, 9]);
      lease.grantee.seal();
      const aborted = AbortSignal.timeout(20);
      const parameters = ["randflake", "uuid7"].includes(family) ? [] : [undefined];
      await assert.rejects(ids.generateAsync(...parameters, { signal: aborted }), { name: "TimeoutError" });
      await assertRejects("lease_unavailable", ids.generateAsync());
      // Only the first call waits until its timeout. Later calls fail immediately until the next grant.
      const began = performance.now();
      await assertRejects("lease_unavailable", ids.generateManyAsync(3), { written: 0 });
      assert(performance.now() - began < 250);
    });

    test(`${family}: only the lease decides worker ID, time and end`, () => {
      const { ids } = begun();
      assertError("lease_mismatch", () => ids.close());
      assertError("lease_mismatch", () => (ids.extendWindow ?? ids.extendGrant).call(ids, start() + 2 * MINUTE));
      if (ids.generateAt) assertError("lease_mismatch", () => ids.generateAt(NOW));
      const others = family === "randflake" ? { resumeAfter: 1_730_000_000 } : { window: [NOW, NOW + MINUTE] };
      const [field] = Object.keys(others);
      assertError("lease_mismatch", () => make(new SimulatedLease(), others), { field });
      assertError("unknown_field", () => make(new SimulatedLease(), { leese: 1 }));
      if (family !== "randflake") assertError("invalid_type", () => make({}), { field: "lease" });
      else assertError("invalid_type", () => make({}));
    });
  }

  test("each format rejects options that conflict with a lease", () => {
    const { layout, sno, uuid7 } = polyflake;
    const lease = new SimulatedLease();
    for (const option of ["workerId", "resumeAfter", "followRollbacks"]) {
      assertError("lease_mismatch", () => new uuid7.Generator({ lease, [option]: 0 }), { field: option });
    }
    for (const option of ["partition", "sequenceMin", "sequenceMax"]) {
      assertError("lease_mismatch", () => new sno.Generator({ lease, [option]: 0 }), { field: option });
    }
    const snapshot = new sno.Generator({ partition: 60_000 }).close();
    assertError("lease_mismatch", () => sno.Generator.restore(snapshot, { lease }), { field: "snapshot" });
    const sonyflake = layout.Layout.preset("sonyflake");
    assertError("lease_mismatch", () => new layout.Generator(sonyflake, { lease, fields: ["machine"], bindables: {} }));
    assertError("missing_field", () => new layout.Generator(sonyflake, { lease }), { field: "fields" });
    assert.equal(new sno.Generator({ lease }).partition, undefined);
  });

  test("partitions are free for default generators after their grants end", () => {
    const program = `
      const { sno } = require("polyflake/${machine}");
      let grantee;
      const lease = { ready() {}, close() {}, [Symbol.for("polyflake.lease")](found) {
        grantee = found;
        return { reason: () => ({}), longest: 0, granted: false, closed: false, attached() {} };
      } };
      const ids = new sno.Generator({ lease });
      const start = Date.now();
      for (let number = 0; number < 65_536; number++) {
        grantee.begin(number, start - 60_000, start + 600_000);
        try { ids.tryGenerate(); } catch {} // most grants start after the previous grant's last tick
      }
      grantee.close();
      console.log(sno.isValid(sno.generate()));`;
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", program], {
      encoding: "utf8",
      cwd: import.meta.dirname,
    });
    assert.deepEqual([stdout, stderr], ["true\n", ""]);
  });

  test("a random worker ID in a leasing process triggers a warning", () => {
    const program = `
      const { sno } = require("polyflake/${machine}");
      process.on("warning", ({ name, code, message }) => console.log(name, code, message.split(",")[0]));
      const heard = (setUp) => { setUp(); return new Promise(setImmediate); };
      (async () => {
        for (const name of ["POLYFLAKE_LEASE", "POLYFLAKE_WORKER_ID"]) {
          delete process.env.POLYFLAKE_LEASE;
          await heard(() => new sno.Generator());
          process.env[name] = "7";
          await heard(() => sno.Generator.restore(new sno.Generator({ partition: name.length }).close()));
          await heard(() => new sno.Generator());
        }
      })();`;
    const { stdout } = spawnSync(process.execPath, ["--no-warnings", "-e", program], {
      encoding: "utf8",
      cwd: import.meta.dirname,
    });
    const line = (name) => `PolyflakeWarning polyflake_unleased ${name} is set\n`;
    assert.equal(stdout, line("POLYFLAKE_LEASE") + line("POLYFLAKE_WORKER_ID"));
  });

  test("a lease variable never falls back to a random worker ID", () => {
    const program = `
      const all = require("polyflake/${machine}");
      for (const name of ["sno", "hotguid", "uuid7", "sno"]) {
        const make = all[name].generate;
        try { console.log(name, make()); } catch (error) { console.log(name, error.code, error.message); }
      }`;
    for (const [variable, value] of [
      ["POLYFLAKE_LEASE", "sqlite:/nowhere/ids.db?namespace=orders"],
      ["POLYFLAKE_LEASE", ""],
      ["POLYFLAKE_WORKER_ID", "7"],
      ["POLYFLAKE_WORKER_ID", ""],
    ]) {
      const env = { ...process.env, [variable]: value };
      const { stdout, stderr } = spawnSync(process.execPath, ["-e", program], {
        env,
        encoding: "utf8",
        cwd: import.meta.dirname,
      });
      assert.equal(stderr, "");
      const lines = stdout.trim().split("\n");
      assert.equal(lines.length, 4);
      for (const line of lines) {
        assert.match(
          line,
          new RegExp(
            `^\\w+ lease_unavailable expected polyflake/lease, since ${variable} is set, .*--import polyflake/lease`,
          ),
        );
      }
    }
  });
});
