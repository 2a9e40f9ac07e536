// Follows the README's recipe for mocked time with Sinon's clock. The argument is the expected backend.
import assert from "node:assert/strict";
import { backend, sno } from "polyflake";
import sinon from "sinon";

const NEW_YEAR = Date.UTC(2030, 0, 1);
const startedAt = Date.now();
const newIdTime = () => sno.parse(sno.generate()).unixMs;
const isNow = (ms) => Math.abs(ms - startedAt) < 3_600_000;

const clock = sinon.useFakeTimers({ now: NEW_YEAR });
assert(isNow(newIdTime()), "a generator without a clock sees none of it");
sno.setDefaultGenerator(new sno.Generator({ partition: 7, testClock: () => Date.now() }));
assert.equal(newIdTime(), NEW_YEAR);
clock.tick(1000);
assert.equal(newIdTime(), NEW_YEAR + 1000);
clock.restore();
sno.setDefaultGenerator(undefined);
assert(isNow(newIdTime()));
assert.equal(backend(), process.argv[2]);
