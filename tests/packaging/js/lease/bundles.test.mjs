// Tests a single-file bundle outside the project, such as the archive of a serverless function. The bundle contains the
// PostgreSQL client.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { build } from "esbuild";
import { withMovedCopy } from "./moved.mjs";
import { grantedWorkerIds, STORE_FACTORIES } from "./places.mjs";

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
