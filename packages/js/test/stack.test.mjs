// Tests stack overflows: a call at the end of the stack throws a RangeError or reports a failed clock, and the next
// call succeeds.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

const SCRIPT = `
const { hotguid, layout, public: { Keyring }, randflake, sno, sparx64, uuid7 } = await import("polyflake/" + process.argv[1]);
const ids = new sno.Generator({ partition: 1, metabyte: 7 });
const clocked = new sno.Generator({ partition: 2, clock: () => Date.now() });
const guids = new hotguid.Generator({ clock: () => Date.now() });
const uuids = new uuid7.Generator({ clock: () => Date.now() });
const grant = new randflake.Grant([0, 1000], 1730000000, 2803741824);
const flakes = new randflake.Generator(grant, new Uint8Array(16), { clock: () => Date.now(), onExhausted: "wait" });
const cipher = new sparx64.Sparx64(new Uint8Array(16));
const publicIds = new Keyring(new Uint8Array(32));
const orders = publicIds.of("order");
const discord = layout.Layout.preset("discord");
const custom = new layout.Generator(discord, { clock: () => Date.now(), bindables: { worker: 1, process: 2 } });
const made = new Set();
const failures = new Set();

/** Recurses to the end of the stack, and retries a call in each returning stack frame until it succeeds. */
function callNearOverflow(call) {
  try {
    callNearOverflow(call);
  } catch (error) {
    failures.add(error.code ?? error.constructor.name);
    call();
  }
}

const calls = [
  () => made.add(ids.generate()),
  () => made.add(clocked.generate()),
  () => ids.generateMany(40).texts().forEach((id) => made.add(id)),
  () => clocked.generateMany(40).texts().forEach((id) => made.add(id)),
  () => sno.parse("a7rdmuv326nct5i!"),
  () => sno.toUuid("a7rdmuv326nct5if"),
  () => new sno.Generator({ partition: 3, clock: Date.now }).generate(),
  () => made.add(new sno.Generator().generate()),
  () => made.add(guids.generate()),
  () => guids.generateMany(40).texts().forEach((id) => made.add(id)),
  () => hotguid.toSql("691f29d0-bbaa-ddcc-ee01-0203ffffff7f"),
  () => made.add(uuids.generate()),
  () => uuids.generateMany(40).texts().forEach((id) => made.add(id)),
  () => made.add(new uuid7.Generator().generate()),
  () => uuid7.Uuid7Array.from(Array(40).fill("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")),
  () => made.add(flakes.generate()),
  () => flakes.generateMany(40).texts().forEach((id) => made.add(id)),
  () => flakes.inspect(flakes.generate()),
  () => randflake.decodeText("1uvw"),
  () => new randflake.Codec(new Uint8Array(16)).inspect(1n),
  () => cipher.encryptMany(new Uint8Array(80)),
  () => sno.describe(),
  () => made.add(custom.generate()),
  () => [...custom.generateMany(40)].forEach((id) => made.add(id)),
  () => discord.parse(175928847299117063n),
  () => discord.pack({ timestamp: Date.now(), sequence: 1, bindables: { worker: 1, process: 2 } }),
  () => layout.Layout.fromJson(discord.toJson()),
  () => discord.packColumns({ timestamp: Date.now(), sequence: new Float64Array(40), bindables: { worker: 1, process: 2 } }),
  () => discord.parseColumns(new BigInt64Array(40)),
  () => sno.SnoArray.from(Array(40).fill("a7rdmuv326nct5if")),
  () => randflake.RandflakeArray.from(Array(40).fill("1uvw")),
  () => hotguid.HotGuidArray.from(Array(40).fill("691f29d0-bbaa-ddcc-ee01-0203ffffff7f")),
  () => made.add(flakes.generateText()),
  () => publicIds.of("invoice", { bits: 64 }).encode(42),
  () => orders.decode(orders.encode(42)),
  () => orders.decode("order_O123456789abcde"),
  () => orders.decodeMany(orders.encodeMany(Array(40).fill(42))),
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
for (const id of [sno.generate(), ids.generate(), clocked.generate(), guids.generate(), uuids.generate(), flakes.generate(), custom.generate()]) made.add(id);
const many = made.size;
for (const source of [ids, guids, uuids, flakes, custom]) for (const id of source.generateMany(1000)) made.add(id);
console.log(JSON.stringify({ failures: [...failures].sort(), fresh: made.size - many }));
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
