// How a bundle in Node finds the addon of the installed package, and what it does without one.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HOME = fileURLToPath(new URL("..", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "polyflake-"));
after(() => rmSync(root, { recursive: true }));

/** Makes an ID and says with which machine. */
const PROGRAM = 'import { backend, sno } from "polyflake"; console.log(sno.isValid(sno.generate()) && backend());';

const bundles = await Promise.all(
  ["esm", "cjs"].map(async (format) => {
    const options = { bundle: true, platform: "node", format, write: false, logOverride: { "empty-import-meta": "silent" } };
    const { outputFiles } = await build({ stdin: { contents: PROGRAM, resolveDir: dirname(fileURLToPath(import.meta.url)) }, ...options });
    return [format === "esm" ? "mjs" : "cjs", outputFiles[0].contents];
  }),
);

/** A project in which each kind of bundle lies in a folder of its own. */
function project(name, install = () => undefined) {
  const [folder, dist] = [join(root, name), join(root, name, "dist/deep")];
  mkdirSync(dist, { recursive: true });
  for (const [extension, contents] of bundles) writeFileSync(join(dist, `main.${extension}`), contents);
  install(join(folder, "node_modules/polyflake"));
  return (cwd = root) => bundles.map(([extension]) => execFileSync(process.execPath, [join(dist, `main.${extension}`)], { cwd, encoding: "utf8" }).trim());
}

function copyOf(version) {
  return (to) => {
    mkdirSync(to, { recursive: true });
    cpSync(join(HOME, "prebuilds"), join(to, "prebuilds"), { recursive: true });
    const manifest = JSON.parse(readFileSync(join(HOME, "package.json"), "utf8"));
    writeFileSync(join(to, "package.json"), JSON.stringify({ ...manifest, version: version ?? manifest.version }));
  };
}

function linkTo(to) {
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(HOME, to, "junction");
}

describe("a bundle", () => {
  test("uses the addon of the package that is installed above it", () => {
    assert.deepEqual(project("installed", copyOf())(), ["native", "native"]);
    assert.deepEqual(project("linked", linkTo)(), ["native", "native"]);
  });

  test("uses wasm where there is none, or one of another version", () => {
    assert.deepEqual(project("alone")(), ["wasm", "wasm"]);
    assert.deepEqual(project("other", copyOf("0.0.1"))(), ["wasm", "wasm"]);
  });

  test("loads nothing from the folder that it is started in", () => {
    project("elsewhere", copyOf());
    assert.deepEqual(project("alone")(join(root, "elsewhere")), ["wasm", "wasm"]);
  });
});
