// Tests that bundles running in Node find the addon of the installed package or fall back to wasm.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { manifest, platformManifest, stagePlatformPackage } from "../build/pack.mjs";
import { addonPackageName, currentPlatform } from "../build/platforms.mjs";

const PACKAGE_FOLDER = fileURLToPath(new URL("..", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "polyflake-"));
after(() => rmSync(root, { recursive: true }));

/** Generates an ID and prints the backend. */
const PROGRAM = 'import { backend, sno } from "polyflake"; console.log(sno.isValid(sno.generate()) && backend());';

const REQUIRE_SCRIPT = PROGRAM.replace(/import (.*) from (.*?);/, "const $1 = require($2);");

/** The bundles to test: the package's ES module and CommonJS builds, each bundled in both module formats. */
const BUNDLE_SOURCES = [
  ["esm.mjs", PROGRAM],
  ["esm.cjs", PROGRAM],
  ["cjs.mjs", REQUIRE_SCRIPT],
  ["cjs.cjs", REQUIRE_SCRIPT],
];

/** Source paths on the build machine. Webpack and other bundlers hard-code such paths in bundles. */
const BAKED_PATHS = {
  "import.meta.url": JSON.stringify(new URL("../dist/esm/node.js", import.meta.url)),
  __filename: JSON.stringify(join(PACKAGE_FOLDER, "dist/cjs/node.js")),
};

async function bundle(name, contents, define = {}) {
  const format = name.endsWith(".mjs") ? "esm" : "cjs";
  // Defines `require` in ES modules, because bundled CommonJS code uses it for Node's own modules.
  const banner =
    format === "esm"
      ? { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' }
      : {};
  const options = {
    bundle: true,
    platform: "node",
    format,
    banner,
    define,
    write: false,
    logOverride: { "empty-import-meta": "silent" },
  };
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: dirname(fileURLToPath(import.meta.url)) },
    ...options,
  });
  return [name, outputFiles[0].contents];
}

const buildBundles = (define) => Promise.all(BUNDLE_SOURCES.map(([name, contents]) => bundle(name, contents, define)));
const [bundles, baked] = await Promise.all([buildBundles({}), buildBundles(BAKED_PATHS)]);

/** Creates a project with one folder per kind of bundle. */
function createProject(name, install = () => undefined, built = bundles) {
  const [folder, dist] = [join(root, name), join(root, name, "dist/deep")];
  mkdirSync(dist, { recursive: true });
  for (const [file, contents] of built) writeFileSync(join(dist, file), contents);
  install(join(folder, "node_modules/polyflake"));
  return (cwd = root, start = (path) => [path]) =>
    built.map(([file]) => execFileSync(process.execPath, start(join(dist, file)), { cwd, encoding: "utf8" }).trim());
}

const expectedOutputs = (machine) => bundles.map(() => machine);

const platform = currentPlatform();

/**
 * Returns a function that installs a package.json with this version of the package, and this platform's addon package
 * with the same or a different version.
 */
function createInstaller(version, versionOfAddon = version) {
  return (to, modules = dirname(to)) => {
    const addon = join(modules, addonPackageName(platform));
    for (const folder of [to, addon]) mkdirSync(folder, { recursive: true });
    stagePlatformPackage(platform, join(PACKAGE_FOLDER, "prebuilds", platform.name, "polyflake.node"), addon);
    writeManifest(to, manifest(), version);
    writeManifest(addon, platformManifest(platform), versionOfAddon);
  };
}

function writeManifest(folder, content, version = content.version) {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...content, version }));
}

/**
 * Installs the package in the way that pnpm does: as a link into a store that also contains the package's dependencies.
 */
function linkToStore(to) {
  const store = join(dirname(to), ".store/polyflake/node_modules");
  createInstaller()(join(store, "polyflake"), store);
  symlinkSync(join(store, "polyflake"), to, "junction");
}

function linkTo(to) {
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(PACKAGE_FOLDER, to, "junction");
}

describe("a bundle", () => {
  test("uses the addon of the package that is installed above it", () => {
    assert.deepEqual(createProject("installed", createInstaller())(), expectedOutputs("native"));
    assert.deepEqual(createProject("linked", linkTo)(), expectedOutputs("native"));
    assert.deepEqual(createProject("stored", linkToStore)(), expectedOutputs("native"));
  });

  test("finds the addon from its own file if another program loads it", () => {
    const loaded = createProject("loaded", createInstaller());
    const found = loaded(root, (path) => [
      "--input-type=module",
      "--eval",
      `await import(${JSON.stringify(pathToFileURL(path))});`,
    ]);
    assert.deepEqual(found, expectedOutputs("native"));
  });

  test("uses wasm if the addon is missing or has another version", () => {
    assert.deepEqual(createProject("alone")(), expectedOutputs("wasm"));
    assert.deepEqual(createProject("other", createInstaller("0.0.1"))(), expectedOutputs("wasm"));
    assert.deepEqual(createProject("other addon", createInstaller(undefined, "0.0.1"))(), expectedOutputs("wasm"));
  });

  test("loads nothing from its build folder", () => {
    assert.deepEqual(createProject("moved", undefined, baked)(), expectedOutputs("wasm"));
    assert.deepEqual(createProject("moved and installed", createInstaller(), baked)(), expectedOutputs("native"));
  });

  test("loads nothing from the working directory", () => {
    createProject("elsewhere", createInstaller());
    assert.deepEqual(createProject("alone")(join(root, "elsewhere")), expectedOutputs("wasm"));
  });
});
