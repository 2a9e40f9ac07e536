// Tests how a backend is selected, forced and reported, and the typed error that is thrown if no backend can run.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import vm from "node:vm";
import { addonPackageName, currentPlatform, PLATFORMS } from "../build/platforms.mjs";
import { assertError } from "./assertions.mjs";
import { browse, skipReason } from "./browser.mjs";
import { onEachMachine } from "./machines.mjs";
import { bundleIn, createRealm, requireIn } from "./realm.mjs";

/** The source code of functions that each use an ID format or the cipher. */
const FIRST_USES = `[
  () => polyflake.sno.generate(),
  () => polyflake.hotguid.generate(),
  () => polyflake.uuid7.generate(),
  () => new polyflake.randflake.Codec(new Uint8Array(16)),
  () => polyflake.layout.Layout.preset("discord"),
  () => new polyflake.sparx64.Sparx64(new Uint8Array(16)),
]`;

/** Runs a script in a new Node process, with or without `POLYFLAKE_BACKEND`, and returns the lines that it prints. */
function runScript(source, POLYFLAKE_BACKEND) {
  const { POLYFLAKE_BACKEND: _, ...env } = process.env;
  if (POLYFLAKE_BACKEND !== undefined) env.POLYFLAKE_BACKEND = POLYFLAKE_BACKEND;
  const options = { encoding: "utf8", cwd: new URL(".", import.meta.url), env };
  return execFileSync(process.execPath, ["--input-type=module", "--eval", source], options).trim().split("\n");
}

/**
 * Returns a script that imports the copy of the package at `path`, and prints its backend and the results of its first
 * calls.
 */
const reportScript = (path) => `
  const polyflake = await import(${JSON.stringify(path)});
  const describe = (use) => {
    try { return use(); } catch (error) { return [error.name, error.code, error.field, error.cause?.errors?.length].filter(Boolean).join(" "); }
  };
  console.log(describe(() => polyflake.backend()));
  for (const use of ${FIRST_USES}) console.log(describe(() => (use(), "well")));
  console.log(describe(() => polyflake.backend()));`;

const SUCCESSES = new Array(6).fill("well");
const repeatLine = (line) => new Array(8).fill(line);

onEachMachine((polyflake, name) => {
  test("the entry point of one backend reports its name", () => assert.equal(polyflake.backend(), name));
});

describe("in Node with an addon", () => {
  for (const [variable, expected] of [
    [undefined, "native"],
    ["", "native"],
    ["native", "native"],
    ["wasm", "wasm"],
  ]) {
    test(`POLYFLAKE_BACKEND=${variable} selects the backend`, () =>
      assert.deepEqual(runScript(reportScript("polyflake"), variable), [expected, ...SUCCESSES, expected]));
  }

  test("another value is rejected at the first use and not at the import", () => {
    for (const wrong of ["Native", "wasm ", "auto", "1"]) {
      assert.deepEqual(
        runScript(reportScript("polyflake"), wrong),
        repeatLine("PolyflakeError out_of_range POLYFLAKE_BACKEND"),
      );
    }
  });

  test("the entry points of one backend ignore the variable", () => {
    for (const variable of ["native", "wasm", "auto"]) {
      for (const name of ["native", "wasm"])
        assert.deepEqual(runScript(reportScript(`polyflake/${name}`), variable), [name, ...SUCCESSES, name]);
    }
  });
});

describe("in Node without an addon", () => {
  const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
  const platform = currentPlatform();
  const prebuilds = join(folder, "prebuilds", platform.name);
  const entryPath = (entry) => join(folder, "dist/cjs", `${entry}.js`);
  const EXPECTED_REJECTION = repeatLine(
    `PolyflakeError backend_unavailable ${PLATFORMS.filter(({ os, cpu }) => os === platform.os && cpu === platform.cpu).length}`,
  );

  before(() => {
    const home = new URL("..", import.meta.url);
    for (const part of ["dist", "package.json"]) cpSync(new URL(part, home), join(folder, part), { recursive: true });
  });
  after(() => rmSync(folder, { recursive: true }));

  const ADDON_STATES = {
    "no file": () => undefined,
    "no file in its folder": () => mkdirSync(prebuilds, { recursive: true }),
    "a file that is no library": () => writeFileSync(join(prebuilds, "polyflake.node"), "no library"),
  };
  for (const [state, prepare] of Object.entries(ADDON_STATES)) {
    test(state, () => {
      prepare();
      assert.deepEqual(runScript(reportScript(entryPath("node"))), ["wasm", ...SUCCESSES, "wasm"]);
      assert.deepEqual(runScript(reportScript(entryPath("node")), "wasm"), ["wasm", ...SUCCESSES, "wasm"]);
      assert.deepEqual(runScript(reportScript(entryPath("node")), "native"), EXPECTED_REJECTION);
      assert.deepEqual(runScript(reportScript(entryPath("native"))), EXPECTED_REJECTION);
    });
  }
});

describe("the error if no addon loads", () => {
  const outputOn = (place) => {
    const script = `
      Object.defineProperties(process, ${JSON.stringify(place)});
      const { sno } = await import("polyflake/native");
      try { sno.generate(); } catch ({ code, message }) { console.log(code, message); }`;
    return runScript(script)[0];
  };
  const entryPath = (platform, arch) => ({ platform: { value: platform }, arch: { value: arch } });

  test("names the packages that the platform needs", () => {
    for (const platform of PLATFORMS.filter(({ os }) => os !== process.platform)) {
      const message = `expected the package ${addonPackageName(platform)}, found none that loads`;
      assert.equal(outputOn(entryPath(platform.os, platform.cpu)), `backend_unavailable ${message}`);
    }
  });

  test("reports that a platform has no addon", () => {
    const message = "expected a platform with a native addon, found sunos-x64";
    assert.equal(outputOn(entryPath("sunos", "x64")), `backend_unavailable ${message}`);
  });
});

describe("if wasm cannot run", () => {
  const first = (context, entry) => requireIn(context, entry).sno;

  test("a missing WebAssembly is reported", () => {
    const context = createRealm({ WebAssembly: undefined });
    const { sno, backend, layout } = requireIn(context, "wasm");
    assert.equal(backend(), "wasm");
    for (const use of [() => sno.generate(), () => layout.Layout.preset("discord")]) {
      const { message, cause } = assertError("backend_unavailable", use);
      assert.equal(message, "expected WebAssembly, found none");
      assert.equal(cause.name, "TypeError");
    }
    const bare = createRealm();
    vm.runInContext("delete globalThis.WebAssembly", bare);
    assert.equal(assertError("backend_unavailable", () => first(bare, "wasm").generate()).cause.name, "ReferenceError");
  });

  test("a realm without permission to compile gets the directive in the error", () => {
    const context = createRealm({}, { codeGeneration: { wasm: false } });
    const { message, cause } = assertError("backend_unavailable", () => first(context, "wasm").generate());
    assert.match(message, /'wasm-unsafe-eval'/);
    assert.equal(cause.name, "CompileError");
    assert.equal(requireIn(context, "decode").isValid("a7rdmuv326nct5if"), true);
  });

  test("a compiled module that does not start is reported", async () => {
    const context = createRealm();
    const { sno } = await bundleIn(
      context,
      "edge-light",
      () => new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])),
    );
    assertError("backend_unavailable", () => sno.generate());
  });

  test("Node reports the wasm error if neither backend works", () => {
    const script = `delete globalThis.WebAssembly;\n${reportScript("polyflake")}`;
    assert.deepEqual(runScript(script), ["native", ...SUCCESSES, "native"]);
    assert.deepEqual(runScript(script, "wasm"), [
      "wasm",
      ...SUCCESSES.map(() => "PolyflakeError backend_unavailable"),
      "wasm",
    ]);
  });

  test("a content security policy without wasm is reported", { skip: skipReason }, async () => {
    const script = `Promise.all(["wasm", "decode"].map((name) => import("/packages/js/dist/esm/" + name + ".js"))).then(([{ sno, backend }, decode]) => {
      const describe = (use) => { try { return String(use()); } catch ({ name, code, message, cause }) { return [name, code, /'wasm-unsafe-eval'/.test(message), cause.name].join(" "); } };
      return [decode.metabyte("a7rdmuv326nct5if"), backend(), sno.metabyte("a7rdmuv326nct5if"), describe(() => new sno.Generator()), describe(() => sno.generate())];
    })`;
    for (const [policy, failures] of [
      ["script-src 'self'", 2],
      ["script-src 'self' 'wasm-unsafe-eval'", 0],
    ]) {
      const { page, close } = await browse("examples/web/style.css", { "content-security-policy": policy });
      try {
        const [metabyte, kind, same, ...describe] = await page.evaluate(script);
        assert.deepEqual([metabyte, kind, same], [1, "wasm", 1]);
        const rejected = describe.filter((line) => line === "PolyflakeError backend_unavailable true CompileError");
        assert.equal(rejected.length, failures, describe.join());
      } finally {
        await close();
      }
    }
  });
});
