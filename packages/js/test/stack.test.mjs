// Tests stack overflows: a call near the stack limit throws a RangeError or reports a failed clock, and the next call
// succeeds.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

const SCRIPT = `
const { hotguid, layout, public: { Keyring }, randflake, sno, sparx64, uuid7 } = await import("polyflake/" + process.argv[1]);
const snoGenerator = new sno.Generator({ partition: 1, metabyte: 7 });
const clockedGenerator = new sno.Generator({ partition: 2, testClock: () => Date.now() });
const hotguidGenerator = new hotguid.Generator({ testClock: () => Date.now() });
const uuid7Generator = new uuid7.Generator({ testClock: () => Date.now() });
const grant = new randflake.Grant([0, 1000], 1730000000, 2803741824);
const randflakeGenerator = new randflake.Generator(grant, new Uint8Array(16), { testClock: () => Date.now(), onExhausted: "wait" });
const cipher = new sparx64.Sparx64(new Uint8Array(16));
const keyring = new Keyring(new Uint8Array(32));
const orderType = keyring.of("order");
const discord = layout.Layout.preset("discord");
const layoutGenerator = new layout.Generator(discord, { testClock: () => Date.now(), bindables: { worker: 1, process: 2 } });
const generatedIds = new Set();
const failures = new Set();

/**
 * Recurses until the stack overflows. As the stack unwinds, retries a call in each stack frame until the call succeeds.
 */
function callNearOverflow(call) {
  try {
    callNearOverflow(call);
  } catch (error) {
    failures.add(error.code ?? error.constructor.name);
    call();
  }
}

const calls = [
  () => generatedIds.add(snoGenerator.generate()),
  () => generatedIds.add(clockedGenerator.generate()),
  () => snoGenerator.generateMany(40).texts().forEach((id) => generatedIds.add(id)),
  () => clockedGenerator.generateMany(40).texts().forEach((id) => generatedIds.add(id)),
  () => sno.parse("a7rdmuv326nct5i!"),
  () => sno.toUuid("a7rdmuv326nct5if"),
  () => new sno.Generator({ partition: 3, testClock: Date.now }).generate(),
  () => generatedIds.add(new sno.Generator().generate()),
  () => generatedIds.add(hotguidGenerator.generate()),
  () => hotguidGenerator.generateMany(40).texts().forEach((id) => generatedIds.add(id)),
  () => hotguid.toSql("691f29d0-bbaa-ddcc-ee01-0203ffffff7f"),
  () => generatedIds.add(uuid7Generator.generate()),
  () => uuid7Generator.generateMany(40).texts().forEach((id) => generatedIds.add(id)),
  () => generatedIds.add(new uuid7.Generator().generate()),
  () => uuid7.Uuid7Array.from(Array(40).fill("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")),
  () => generatedIds.add(randflakeGenerator.generate()),
  () => randflakeGenerator.generateMany(40).texts().forEach((id) => generatedIds.add(id)),
  () => randflakeGenerator.inspect(randflakeGenerator.generate()),
  () => randflake.decodeText("1uvw"),
  () => new randflake.Codec(new Uint8Array(16)).inspect(1n),
  () => cipher.encryptMany(new Uint8Array(80)),
  () => sno.describe(),
  () => generatedIds.add(layoutGenerator.generate()),
  () => [...layoutGenerator.generateMany(40)].forEach((id) => generatedIds.add(id)),
  () => discord.parse(175928847299117063n),
  () => discord.pack({ timestamp: Date.now(), sequence: 1, bindables: { worker: 1, process: 2 } }),
  () => layout.Layout.fromJson(discord.toJson()),
  () => discord.packColumns({ timestamp: Date.now(), sequence: new Float64Array(40), bindables: { worker: 1, process: 2 } }),
  () => discord.parseColumns(new BigInt64Array(40)),
  () => sno.SnoArray.from(Array(40).fill("a7rdmuv326nct5if")),
  () => randflake.RandflakeArray.from(Array(40).fill("1uvw")),
  () => hotguid.HotGuidArray.from(Array(40).fill("691f29d0-bbaa-ddcc-ee01-0203ffffff7f")),
  () => generatedIds.add(randflakeGenerator.generateText()),
  () => keyring.of("invoice", { bits: 64 }).encode(42),
  () => orderType.decode(orderType.encode(42)),
  () => orderType.decode("order_O123456789abcde"),
  () => orderType.decodeMany(orderType.encodeMany(Array(40).fill(42))),
];
for (let round = 0; round < 60; round++) {
  for (const call of calls) {
    try {
      callNearOverflow(call);
    } catch (error) {
      failures.add(error.code ?? error.constructor.name);
    }
  }
}
for (const id of [sno.generate(), snoGenerator.generate(), clockedGenerator.generate(), hotguidGenerator.generate(), uuid7Generator.generate(), randflakeGenerator.generate(), layoutGenerator.generate()]) generatedIds.add(id);
const countBefore = generatedIds.size;
for (const source of [snoGenerator, hotguidGenerator, uuid7Generator, randflakeGenerator, layoutGenerator]) for (const id of source.generateMany(1000)) generatedIds.add(id);
console.log(JSON.stringify({ failures: [...failures].sort(), fresh: generatedIds.size - countBefore }));
`;

for (const machine of ["native", "wasm"]) {
  test(`${machine}: calls survive a stack overflow`, () => {
    const options = { encoding: "utf8", cwd: new URL(".", import.meta.url) };
    const flags = ["--stack-size=300", "--input-type=module", "--eval", SCRIPT, machine];
    const { failures, fresh } = JSON.parse(execFileSync(process.execPath, flags, options));
    assert(failures.includes("RangeError"), "the stack's end was not reached");
    const expected = [
      "RangeError",
      "clock_failed",
      "entropy_unavailable",
      "invalid_character",
      "invalid_layout",
      "invalid_type",
      "sequence_exhausted",
    ];
    assert.deepEqual(
      failures.filter((name) => !expected.includes(name)),
      [],
    );
    assert.equal(fresh, 5000);
  });
}
