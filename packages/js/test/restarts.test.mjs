// Tests that a generator with an explicit worker ID skips its first tick, because an earlier generator may have
// generated IDs in that tick.
import assert from "node:assert/strict";
import { test } from "node:test";

import { hotguid, layout, randflake, sno } from "polyflake";

const secret = new TextEncoder().encode("sixteen byte key");
const grant = () => new randflake.Grant(7, 1_730_000_000, 2_803_741_824);

/** Returns the IDs of generators that are created and closed one after another. */
function consecutiveIds(build) {
  const made = [];
  for (let k = 0; k < 50; k++) {
    const ids = build();
    made.push(String(ids.generate()));
    ids.close();
  }
  return new Set(made).size;
}

test("consecutive generators never repeat an ID", () => {
  assert.equal(
    consecutiveIds(() => new sno.Generator({ partition: 7001 })),
    50,
  );
  assert.equal(
    consecutiveIds(() => new sno.Generator({ partition: 7008, clock: () => Date.now() })),
    50,
  );
  const discord = layout.Layout.preset("discord", { worker: 1, process: 2 });
  assert.equal(
    consecutiveIds(() => new layout.Generator(discord)),
    50,
  );
});

test("a generator has one clock", () => {
  const both = { clock: Date.now, testClock: Date.now };
  assert.throws(() => new sno.Generator(both), { code: "out_of_range", field: "testClock" });
});

test("maxWait limits the first wait even with a callback", async () => {
  const exhausted = { code: "sequence_exhausted" };
  assert.throws(() => new sno.Generator({ partition: 7002, maxWait: 0 }).generate(), exhausted);
  assert.throws(() => new sno.Generator({ partition: 7003, maxWait: 0, onStall: () => {} }).generate(), exhausted);
  assert.throws(() => new randflake.Generator(grant(), secret, { maxWait: 0 }).generate(), exhausted);
  // `onExhausted` applies to exhausted ticks, not to the first tick.
  assert.ok(new sno.Generator({ partition: 7004, onExhausted: "error" }).generate());
  assert.ok(await new sno.Generator({ partition: 7005 }).generateAsync());
});

test("generators without a predecessor start immediately", () => {
  const now = 1_763_650_000_000;
  assert.ok(new sno.Generator({ maxWait: 0 }).generate());
  assert.ok(new hotguid.Generator({ maxWait: 0 }).generate());
  assert.ok(new sno.Generator({ partition: 7006, testClock: () => now, maxWait: 0 }).generate());
  const ids = new sno.Generator({ partition: 7007 });
  ids.generate();
  assert.ok(sno.Generator.restore(ids.close(), { maxWait: 0 }).generate());
});
