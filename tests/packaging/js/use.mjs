// What a user's first file may look like: an ES module.
import assert from "node:assert/strict";

import { PolyflakeError, sno } from "polyflake";
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
