// Tests the source of the system time, both with the addon, for which an environment variable can select the source,
// and with wasm.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { arch, platform } from "node:process";
import { test } from "node:test";
import { hotguid as guid, parse } from "polyflake/decode";
import { assertError } from "./assertions.mjs";
import { onEachMachine } from "./machines.mjs";
import { createRealm, requireIn } from "./realm.mjs";

const ADDON_SOURCES = ["counter", "system_call"];
const HAS_COUNTER = platform === "linux" && ["x64", "arm64"].includes(arch);

/**
 * Returns the clock source that an entry point reports in a new process. The source must be the same before and after
 * the first ID.
 */
function reportedSources(entry, choice, POLYFLAKE_BACKEND = "") {
  const script = `import { clockSource, sno } from "${entry}"; const before = clockSource(); sno.generate(); console.log(before, clockSource());`;
  const options = {
    encoding: "utf8",
    cwd: new URL(".", import.meta.url),
    env: { ...process.env, POLYFLAKE_CLOCK: choice, POLYFLAKE_BACKEND },
  };
  const [before, after] = execFileSync(process.execPath, ["--input-type=module", "--eval", script], options)
    .trim()
    .split(" ");
  assert.equal(before, after);
  return after;
}

onEachMachine(({ clockSource }, name) => {
  test("the entry point of one backend reports its clock source", () => {
    assert((name === "native" ? ADDON_SOURCES : ["host"]).includes(clockSource()));
  });
});

test("the environment selects the addon's clock source", () => {
  const counter = HAS_COUNTER ? "counter" : "system_call";
  assert.deepEqual(
    [reportedSources("polyflake", "exact"), reportedSources("polyflake", "counter")],
    ["system_call", counter],
  );
  assert(ADDON_SOURCES.includes(reportedSources("polyflake/native", "another word")));
});

test("wasm always uses the host's clock", () => {
  assert.equal(reportedSources("polyflake", "counter", "wasm"), "host");
  assert.equal(reportedSources("polyflake/wasm", "exact"), "host");
});

test("on wasm each call reads the current time", () => {
  let now = Date.UTC(2027, 0, 1);
  const { sno, hotguid, randflake } = requireIn(createRealm({ crypto, Date: { now: () => now } }), "wasm");
  const grant = new randflake.Grant(7, 1_730_000_000, 2_000_000_000);
  const [secret, codec] = [new Uint8Array(16), new randflake.Codec(new Uint8Array(16))];
  const [snos, guids, flakes] = [
    new sno.Generator({ partition: 1 }),
    new hotguid.Generator(),
    new randflake.Generator(grant, secret),
  ];
  const others = new sno.Generator({ partition: 2, testClock: () => now + 3_600_000 });
  const closed = new sno.Generator({ partition: 3 });
  closed.close();
  const readUnixMs = (id) => parse(id).unixMs;
  // Calls that receive a time, calls that read the clock, and calls that fail before reading it, in every order.
  const calls = [
    () => assert.equal(readUnixMs(snos.generate()), now),
    () => assert.equal(readUnixMs(snos.tryGenerate()), now),
    () => assert.equal(readUnixMs(snos.generateMany(3).at(2)), now),
    () => assert.equal(readUnixMs(others.generate()), now + 3_600_000),
    () => assertError("generator_closed", () => closed.generate()),
    () => assertError("out_of_range", () => snos.generate(256)),
    () => assert.equal(guid.timestamp(guids.generate()), now / 1000),
    () => assert.equal(guid.timestamp(guids.tryGenerate()), now / 1000),
    () => assert.equal(codec.inspect(flakes.generate()).timestamp, now / 1000),
    () => assert.equal(codec.inspect(randflake.decodeText(flakes.generateText())).timestamp, now / 1000),
    () => assert.equal(codec.inspect(flakes.generateMany(2).at(1)).timestamp, now / 1000),
  ];
  // The first tick is skipped.
  for (const ids of [snos, flakes]) assert.equal(ids.tryGenerateMany(1).length, 0);
  for (const first of calls) {
    for (const second of calls) {
      for (const call of [first, second]) {
        now += 4_000;
        call();
      }
    }
  }
});

test("on wasm a stack overflow leaves no stale time", () => {
  let now = Date.UTC(2027, 0, 1);
  const { sno } = requireIn(createRealm({ crypto, Date: { now: () => now } }), "wasm");
  const ids = new sno.Generator({ partition: 1 });
  assert.equal(ids.tryGenerateMany(1).length, 0);
  now += 4;
  ids.generate();
  const fillStack = (room) => {
    try {
      fillStack(room);
    } catch {
      // Each stack frame retries the call, so that calls fail at every point on the way from JavaScript to the clock.
      if (room.left-- > 0) {
        try {
          ids.generate();
        } catch {}
      }
    }
  };
  fillStack({ left: 300 });
  now += 4_000;
  assert.equal(parse(ids.generateMany(1).at(0)).unixMs, now);
});
