// Tests single-file bundles outside the project, such as the archive of a serverless function, in CommonJS and as ES
// modules.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import commonjs from "@rollup/plugin-commonjs";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { build } from "esbuild";
import { rollup } from "rollup";
import { withMovedCopy } from "./moved.mjs";
import { grantedWorkerIds, NODE_24, STORE_FACTORIES } from "./places.mjs";

/** A program that leases from SQLite by the variable and in code, as an ES module without a top-level `await`. */
const FILE_SOURCE = `
  import { close, lease, ready } from "polyflake/lease";
  import { sno } from "polyflake";
  const held = lease(process.env.POLYFLAKE_LEASE);
  const ids = new sno.Generator({ lease: held });
  Promise.all([ready(), held.ready()])
    .then(() => console.log(JSON.stringify([sno.generate(), ids.generate()].map((id) => sno.parse(id).partition))))
    .then(() => Promise.all([close(), held.close()]));`;

const withEsbuild = (options) => async (entry, file) => {
  await build({ entryPoints: [entry], outfile: file, bundle: true, platform: "node", ...options });
};
const withRollup = (conditions, format) => async (input, file) => {
  const plugins = [nodeResolve({ exportConditions: conditions }), commonjs()];
  const bundle = await rollup({ input, plugins, external: /^node:/, onLog: () => {} });
  await bundle.write({ file, format, inlineDynamicImports: true });
};
const BUNDLERS = {
  "esbuild, CommonJS": ["cjs", withEsbuild({ format: "cjs" })],
  "esbuild, ES module": ["mjs", withEsbuild({ format: "esm" })],
  "esbuild, minified ES module": ["mjs", withEsbuild({ format: "esm", minify: true })],
  "Rollup with the condition node": ["mjs", withRollup(["node"], "es")],
  "Rollup with its own conditions": ["mjs", withRollup([], "es")],
  "Rollup, CommonJS": ["cjs", withRollup(["node"], "cjs")],
};

for (const [name, [extension, bundle]] of Object.entries(BUNDLERS)) {
  test(`a moved bundle leases from a file: ${name}`, async () => {
    writeFileSync("file.mjs", FILE_SOURCE);
    const file = `out/${name.replaceAll(/\W+/g, "-")}.${extension}`;
    await bundle("file.mjs", file);
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "polyflake-")));
    const url = `sqlite:${folder}/ids.db?allow=overlayfs&namespace=bundle`;
    // This user owns the folder of the store.
    const output = await withMovedCopy(file, (copy, { uid: _, gid: __, ...options }) =>
      execFileSync(resolve(NODE_24), [copy], {
        ...options,
        encoding: "utf8",
        env: { ...options.env, POLYFLAKE_LEASE: url },
      }),
    );
    assert.deepEqual(JSON.parse(output).sort(), [0, 1]);
    assert.deepEqual(await grantedWorkerIds(url), []);
  });
}

const BUNDLE_SOURCES = {
  "by the variable": `
    import { close, ready } from "polyflake/lease/pg";
    import { sno } from "polyflake";
    ready().then(async () => (console.log(sno.parse(sno.generate(7)).metabyte), await close()));`,
  "over a pool": `
    import pg from "pg";
    import { lease } from "polyflake/lease";
    import { sno } from "polyflake";
    const pool = new pg.Pool({ connectionString: process.env.POLYFLAKE_LEASE.split("&namespace")[0] });
    const held = lease(pool, process.env.POLYFLAKE_LEASE.split("&namespace=")[1]);
    const ids = new sno.Generator({ lease: held });
    held.ready().then(async () => (console.log(sno.parse(ids.generate(7)).metabyte), await held.close(), await pool.end()));`,
};

for (const [way, source] of Object.entries(STORE_FACTORIES.pg ? BUNDLE_SOURCES : {})) {
  test(`a moved bundle leases ${way}`, async () => {
    const { url } = STORE_FACTORIES.pg();
    writeFileSync("bundled.mjs", source);
    const [entryPoints, outfile, external] = [["bundled.mjs"], "out/bundled.cjs", ["pg-native"]];
    await build({ entryPoints, bundle: true, platform: "node", outfile, external });
    const output = await withMovedCopy("out/bundled.cjs", (copy, options) =>
      execFileSync(process.execPath, [copy], {
        ...options,
        encoding: "utf8",
        env: { ...options.env, POLYFLAKE_LEASE: url },
      }),
    );
    assert.equal(output.trim(), "7");
    assert.deepEqual(await grantedWorkerIds(url), []);
  });
}
