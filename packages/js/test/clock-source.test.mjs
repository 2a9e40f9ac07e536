// The source of the system's time: the addon's, which the environment may choose, and wasm's.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { arch, platform } from "node:process";
import { test } from "node:test";
import { onEachMachine } from "./machines.mjs";

const OF_ADDON = ["counter", "system_call"];
const HAS_COUNTER = platform === "linux" && ["x64", "arm64"].includes(arch);

/** What a new process tells of an entry point, before its first ID and after it. */
function told(entry, choice, POLYFLAKE_BACKEND = "") {
  const script = `import { clockSource, sno } from "${entry}"; const before = clockSource(); sno.generate(); console.log(before, clockSource());`;
  const options = { encoding: "utf8", cwd: new URL(".", import.meta.url), env: { ...process.env, POLYFLAKE_CLOCK: choice, POLYFLAKE_BACKEND } };
  const [before, after] = execFileSync(process.execPath, ["--input-type=module", "--eval", script], options).trim().split(" ");
  assert.equal(before, after);
  return after;
}

onEachMachine(({ clockSource }, name) => {
  test("an entry point for one machine tells its source", () => {
    assert((name === "native" ? OF_ADDON : ["host"]).includes(clockSource()));
  });
});

test("the environment chooses the addon's source", () => {
  const counter = HAS_COUNTER ? "counter" : "system_call";
  assert.deepEqual([told("polyflake", "exact"), told("polyflake", "counter")], ["system_call", counter]);
  assert(OF_ADDON.includes(told("polyflake/native", "another word")));
});

test("wasm asks the host, whatever the environment says", () => {
  assert.equal(told("polyflake", "counter", "wasm"), "host");
  assert.equal(told("polyflake/wasm", "exact"), "host");
});
