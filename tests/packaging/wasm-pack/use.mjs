/**
 * Generates a sno with the module that wasm-pack built, and reads it back: `node --experimental-wasm-modules use.mjs
 * MODULE`. `packages/js/src/protocol.ts` defines the registers.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

const NUMBERS = 42;
const register = { handle: 0, parameter: 5, count: 6, value: 8, own: 13 };
/** The start of 2010, which is the epoch of sno's 4 ms ticks. */
const EPOCH_MS = Date.UTC(2010, 0, 1);

const script = pathToFileURL(process.argv[2]);
const machine = await import(script.href);
const { memory } = await import(new URL("polyflake_wasm_bg.wasm", script).href);
// wasm-bindgen copies the module's own JavaScript into a folder with a digest in its name.
const snippets = new URL("snippets/", script);
const [crate] = readdirSync(snippets);
const host = await import(new URL(`${crate}/src/host.js`, snippets).href);

const scratchOffset = machine.scratch();
// Create a new view for each access, because the buffer is replaced when the memory grows.
const put = (place, ...values) => new Float64Array(memory.buffer, scratchOffset, NUMBERS).set(values, place);
const bytes = (length) => Buffer.from(memory.buffer, scratchOffset + 8 * NUMBERS, length);

host.lend({ random: () => 6, next: () => 500, entry: () => 0, swap: () => 1 });
put(register.value, NaN, NaN, NaN, NaN, 0);
const partition = 7;
put(register.own, 0, NaN, partition, NaN, NaN, 1);
assert.equal(machine.snoBuild(), 0, "a generator");

const metabyte = 9;
put(register.parameter, metabyte);
assert.equal(machine.snoGenerate(), 0, "an ID");
assert.match(bytes(16).toString("latin1"), /^[2-9a-x]{16}$/);

put(register.count, 1);
assert.equal(machine.snoFromTexts(), 0, "the ID is parsed");
const id = bytes(10);
// The lowest of the 40 bits is the tick-tock bit.
const unixMs = Math.floor(id.readUIntBE(0, 5) / 2) * 4 + EPOCH_MS;
assert.ok(Math.abs(Date.now() - unixMs) < 60_000, `${unixMs} is not the current time`);
assert.deepEqual([id[5], id.readUInt16BE(6)], [metabyte, partition]);
console.log("ok");
