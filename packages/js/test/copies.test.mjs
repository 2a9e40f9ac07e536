// Many copies of the package in one process: both module formats, both machines, threads.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import * as native from "polyflake/native";
import * as wasm from "polyflake/wasm";
import { refused } from "./refusals.mjs";

const require = createRequire(import.meta.url);
const COPIES = [native, wasm, require("polyflake/native"), require("polyflake/wasm"), require("polyflake")];

/** Runs a script in a new Node process and returns its output. */
function run(source, ...flags) {
  const options = { encoding: "utf8", cwd: new URL(".", import.meta.url) };
  return execFileSync(process.execPath, [...flags, "--input-type=module", "--eval", source], options).trim();
}

/** The first message of a thread that runs a script. */
async function threaded(source) {
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

  test("the first copy's table serves the others, whichever machine it has", () => {
    for (const [first, second] of [
      ["native", "wasm"],
      ["wasm", "native"],
    ]) {
      const script = `
        const [a, b] = [await import("polyflake/${first}"), await import("polyflake/${second}")];
        const partitions = [a, b, a].map(({ sno }) => sno.parse(new sno.Generator().generate()).partition);
        console.log(JSON.stringify(partitions.map((partition) => partition ^ partitions[0])));`;
      assert.equal(run(script), "[0,1,2]");
    }
  });

  test("copies on one thread share the native addon's scratch area, re-entrantly", () => {
    const [esm, cjs] = [native.sno, COPIES[2].sno];
    const inner = new cjs.Generator({ partition: 5, metabyte: 5 });
    const made = [];
    const outer = new esm.Generator({
      partition: 4,
      metabyte: 4,
      clock() {
        made.push(inner.generate());
        cjs.parse(made.at(-1));
        return Date.now();
      },
    });
    for (let k = 0; k < 1000; k++) assert.equal(esm.parse(outer.generate()).partition, 4);
    assert(made.every((id) => esm.parse(id).partition === 5));
  });
});

describe("threads", () => {
  test("default partitions of threads differ, since native has one table for the process", async () => {
    const path = JSON.stringify(require.resolve("polyflake/native"));
    const draw = `const { sno } = require(${path}); port.postMessage(sno.parse(sno.generate()).partition);`;
    const partitions = await Promise.all(Array.from({ length: 6 }, () => threaded(draw)));
    assert.equal(new Set(partitions).size, 6);
  });

  test("a thread that dies inside a clock takes nothing with it", async () => {
    for (const copy of ["polyflake/native", "polyflake/wasm"]) {
      const path = JSON.stringify(require.resolve(copy));
      for (const death of ["process.exit()", "port.postMessage(0); for (;;);"]) {
        const script = `const { sno } = require(${path});
          const dying = new sno.Generator({ partition: 1, clock() { ${death} } });
          port.postMessage(sno.generate());
          dying.generate();`;
        assert(native.sno.isValid(await threaded(script)));
      }
    }
    assert(native.sno.isValid(native.sno.generate()));
  });

  test("many threads come and go, and the addon's memory of them with them", async () => {
    const path = JSON.stringify(require.resolve("polyflake/native"));
    const script = `const { sno } = require(${path});
      const ids = Array.from({ length: 100 }, (_, partition) => new sno.Generator({ partition, clock: Date.now }));
      port.postMessage(ids.map(({ generate }) => generate()));`;
    for (let round = 0; round < 10; round++) {
      const [one, other] = await Promise.all([threaded(script), threaded(script)]);
      assert.equal(new Set(one).size, 100);
      assert.equal(other.length, 100);
    }
  });

  test("a generator can be neither cloned nor sent, and what holds a secret gives none away", () => {
    for (const { hotguid, layout, randflake, sno, sparx64 } of [native, wasm]) {
      const grant = new randflake.Grant(1, 1_730_000_000, 1_730_000_001);
      const secret = new Uint8Array(16).fill(1);
      for (const ids of [
        new sno.Generator({ partition: 1 }),
        new hotguid.Generator(),
        new randflake.Generator(grant, secret),
        new layout.Generator(layout.Layout.preset("sonyflake")),
      ]) {
        assert.throws(() => structuredClone(ids), { name: "DataCloneError" });
        assert.throws(() => new MessageChannel().port1.postMessage({ ids }), { name: "DataCloneError" });
        refused("invalid_type", () => Object.create(ids).stats(), { field: "this" });
        refused("invalid_type", () => Reflect.get(ids.constructor.prototype, "close").call({}), { field: "this" });
        assert.match(JSON.stringify(ids), /^\{(?:"layout":\{"id":"integer","bits":64,"fields":\[[^[\]]*\]\})?\}$/);
      }
      for (const secretive of [new randflake.Codec(secret), new sparx64.Sparx64(secret)]) {
        assert.throws(() => structuredClone(secretive), { name: "DataCloneError" });
        assert.equal(JSON.stringify(secretive), "{}");
      }
    }
  });
});

describe("loading", () => {
  const strip = `
    const refuse = (name) => () => { throw new Error(name + " at import"); };
    globalThis.crypto.getRandomValues = refuse("entropy");
    Date.now = refuse("time");
    WebAssembly.Module = WebAssembly.Instance = refuse("wasm");`;

  test("importing takes neither time nor entropy, nor compiles", () => {
    const paths = ["", "/wasm", "/native", "/decode", "/json", "/schema"];
    const imports = paths.map((path) => `polyflake${path}`);
    const script = imports.map((name) => `await import("${name}");`).join("\n");
    const registered = 'console.log(Symbol.for("polyflake.partitions") in globalThis)';
    assert.equal(run(`${strip}\n${script}\n${registered}`), "false");
  });

  test("a generator takes entropy and time at its first ID, and says so where there is none", () => {
    const script = `
      const { sno } = await import("polyflake/wasm");
      const refuse = () => { throw new Error("not here"); };
      const [random, now] = [crypto.getRandomValues, Date.now];
      globalThis.crypto.getRandomValues = Date.now = refuse;
      const [drawn, given] = [new sno.Generator(), new sno.Generator({ partition: 1, clock: () => Date.now() })];
      try { drawn.generate(); } catch (error) { console.log(error.code, error.cause.message); }
      try { given.generate(); } catch (error) { console.log(error.code, error.cause.message); }
      globalThis.crypto.getRandomValues = random;
      Date.now = now;
      console.log(sno.isValid(drawn.generate()), sno.isValid(given.generate()));`;
    assert.equal(run(script), "entropy_unavailable not here\nclock_failed not here\ntrue true");
  });

  test("Hot Guid takes entropy at a generator's first ID, which a refusal does not use up; the other families take none", () => {
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
    assert.equal(run(script), "entropy_unavailable undefined\nentropy_unavailable undefined\nbigint bigint\ntrue");
  });
});
