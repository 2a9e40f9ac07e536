// Tests many copies of the package in one process, in both module formats, with both backends, and in threads.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import * as native from "polyflake/native";
import * as wasm from "polyflake/wasm";

const require = createRequire(import.meta.url);
const COPIES = [native, wasm, require("polyflake/native"), require("polyflake/wasm"), require("polyflake")];

/** Runs a script in a new Node process and returns its output. */
function runScript(source, ...flags) {
  const options = { encoding: "utf8", cwd: new URL(".", import.meta.url) };
  return execFileSync(process.execPath, [...flags, "--input-type=module", "--eval", source], options).trim();
}

/** Runs a script in a thread, and returns the thread's first message. */
async function runInThread(source) {
  const preamble = 'const { parentPort: port } = require("node:worker_threads");';
  const worker = new Worker(`${preamble}\n${source}`, { eval: true });
  const message = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  await worker.terminate();
  return message;
}

describe("copies", () => {
  test("all copies of a process lease their default partitions from one table", () => {
    const partitions = [...COPIES, ...COPIES].map(({ sno }) => sno.parse(new sno.Generator().generate()).partition);
    assert.equal(new Set(partitions).size, partitions.length);
  });

  test("copies on one thread share the addon's scratch area reentrantly", () => {
    const [esm, cjs] = [native.sno, COPIES[2].sno];
    const inner = new cjs.Generator({ partition: 5, metabyte: 5 });
    const made = [];
    const outer = new esm.Generator({
      partition: 4,
      metabyte: 4,
      testClock() {
        made.push(inner.generate());
        cjs.parse(made.at(-1));
        return Date.now();
      },
    });
    for (let k = 0; k < 1000; k++) assert.equal(esm.parse(outer.generate()).partition, 4);
    assert(made.every((id) => esm.parse(id).partition === 5));
  });

  test("two versions in one process have separate default generators with distinct partitions", () => {
    const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
    try {
      const home = new URL("..", import.meta.url);
      const copies = ["one", "other"].flatMap((copy) => {
        for (const part of ["dist", "prebuilds", "package.json"])
          cpSync(new URL(part, home), join(folder, copy, part), { recursive: true });
        return ["node", "wasm"].map((entry) => join(folder, copy, "dist/cjs", `${entry}.js`));
      });
      const script = `
        const copies = [];
        for (const path of ${JSON.stringify(copies)}) copies.push(await import(path));
        const made = [...copies, ...copies].map(({ sno }) => sno.parse(sno.generate()).partition);
        console.log(JSON.stringify([copies.map(({ backend }) => backend()), made.map((partition) => partition ^ made[0])]));`;
      const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
      assert.deepEqual(JSON.parse(printed), [
        ["native", "wasm", "native", "wasm"],
        [0, 1, 2, 3, 0, 1, 2, 3],
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("threads", () => {
  test("a thread that dies inside a clock does not affect others", async () => {
    for (const copy of ["polyflake/native", "polyflake/wasm"]) {
      const path = JSON.stringify(require.resolve(copy));
      for (const death of ["process.exit()", "port.postMessage(0); for (;;);"]) {
        const script = `const { sno } = require(${path});
          const dying = new sno.Generator({ partition: 1, testClock() { ${death} } });
          port.postMessage(sno.generate());
          dying.generate();`;
        assert(native.sno.isValid(await runInThread(script)));
      }
    }
    assert(native.sno.isValid(native.sno.generate()));
  });

  test("the addon frees the memory of ended threads", async () => {
    const path = JSON.stringify(require.resolve("polyflake/native"));
    const script = `const { sno } = require(${path});
      const ids = Array.from({ length: 100 }, (_, partition) => new sno.Generator({ partition, testClock: Date.now }));
      port.postMessage(ids.map(({ generate }) => generate()));`;
    for (let round = 0; round < 10; round++) {
      const [one, other] = await Promise.all([runInThread(script), runInThread(script)]);
      assert.equal(new Set(one).size, 100);
      assert.equal(other.length, 100);
    }
  });
});

describe("loading", () => {
  const strip = `
    const refuse = (name) => () => { throw new Error(name + " at import"); };
    globalThis.crypto.getRandomValues = refuse("entropy");
    Date.now = refuse("time");
    WebAssembly.Module = WebAssembly.Instance = refuse("wasm");`;

  test("importing uses no clock, no entropy and compiles nothing", () => {
    const paths = ["", "/wasm", "/native", "/decode", "/json", "/schema"];
    const imports = paths.map((path) => `polyflake${path}`);
    const script = imports.map((name) => `await import("${name}");`).join("\n");
    const registered = 'console.log(Symbol.for("polyflake.partitions") in globalThis)';
    assert.equal(runScript(`${strip}\n${script}\n${registered}`), "false");
  });

  test("a generator needs entropy and time at its first ID and reports if they are missing", () => {
    const script = `
      const { sno } = await import("polyflake/wasm");
      const refuse = () => { throw new Error("not here"); };
      const [random, now] = [crypto.getRandomValues, Date.now];
      globalThis.crypto.getRandomValues = Date.now = refuse;
      const [drawn, given] = [new sno.Generator(), new sno.Generator({ partition: 1, testClock: () => Date.now() })];
      try { drawn.generate(); } catch (error) { console.log(error.code, error.cause.message); }
      try { given.generate(); } catch (error) { console.log(error.code, error.cause.message); }
      globalThis.crypto.getRandomValues = random;
      Date.now = now;
      console.log(sno.isValid(drawn.generate()), sno.isValid(given.generate()));`;
    assert.equal(runScript(script), "entropy_unavailable not here\nclock_failed not here\ntrue true");
  });

  test("only Hot Guid needs entropy at a generator's first ID, and a failure can be retried", () => {
    const script = `
      const { hotguid, layout, randflake } = await import("polyflake/wasm");
      const random = crypto.getRandomValues;
      globalThis.crypto.getRandomValues = () => { throw new Error("not here"); };
      const guids = new hotguid.Generator();
      for (const _ of [1, 2]) try { guids.generate(); } catch (error) { console.log(error.code, guids.stats().machine); }
      const grant = new randflake.Grant(1, 1730000000, 2803741824);
      const discord = layout.Layout.preset("discord", { worker: 1, process: 2 });
      console.log(typeof new randflake.Generator(grant, new Uint8Array(16)).generate(), typeof new layout.Generator(discord).generate());
      globalThis.crypto.getRandomValues = random;
      console.log(hotguid.isValid(guids.generate()));`;
    assert.equal(
      runScript(script),
      "entropy_unavailable undefined\nentropy_unavailable undefined\nbigint bigint\ntrue",
    );
  });
});
