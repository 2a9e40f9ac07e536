// What a user's first file may look like: an ES module.
import assert from "node:assert/strict";

import { hotguid, layout, PolyflakeError, randflake, sno, sparx64 } from "polyflake";
import { metabyte } from "polyflake/decode";

const id = sno.generate(7);
assert.match(id, /^[2-9a-x]{16}$/);
assert.equal(metabyte(id), 7);

const { timestamp, unixMs } = sno.parse(id);
assert.equal(timestamp.getTime(), unixMs);
assert(Math.abs(Date.now() - unixMs) < 300_000);

const ids = new sno.Generator({ partition: 3 }).generateMany(100);
assert.equal(new Set(ids.texts()).size, 100);

assert.throws(
  () => sno.parse("9q6kc9o37a32432!"),
  (error) => error instanceof PolyflakeError && error.code === "invalid_character" && error.position === 15,
);

const lease = new randflake.Lease(42, 1_730_000_000, 2_803_741_824);
const flakes = new randflake.Generator(lease, new Uint8Array(16));
assert.equal(flakes.inspect(flakes.generate()).node, 42);
assert.equal(hotguid.shardKey(hotguid.generate(7)), 7);
assert.equal(layout.Layout.preset("twitter").parse(1541815603606036480n).unixMs, 1656432460105n);
assert.equal(new sparx64.Sparx64(new Uint8Array(16)).encrypt(new Uint8Array(8)).length, 8);
