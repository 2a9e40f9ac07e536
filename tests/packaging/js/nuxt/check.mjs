// Builds a Nuxt app without configuration, moves the built server out of the project, and requests an ID from it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { withMovedCopy } from "./moved.mjs";
import { ask, serveApp } from "./started.mjs";

const FILES = {
  "nuxt.config.js": "export default defineNuxtConfig({ telemetry: false });",
  "app/app.vue": "<template><p>IDs</p></template>",
  "server/plugins/lease.js": `import { ready } from "polyflake/lease";
    export default defineNitroPlugin(() => void ready());`,
  "server/api/id.js": `import { backend, sno } from "polyflake";
    import { metabyte } from "polyflake/decode";
    import { PgColumn, pgTable } from "drizzle-orm/pg-core";
    import { pg } from "polyflake/drizzle";
    import { Keyring } from "polyflake/public";
    export default defineEventHandler(() => {
      const id = sno.generate(7);
      const isColumn = pgTable("t", { id: pg.snoText() }).id instanceof PgColumn;
      const { partition } = sno.parse(id);
      return { backend: backend(), metabyte: metabyte(id), partition, ids: typeof Keyring, isColumn };
    });`,
};
for (const [file, text] of Object.entries(FILES)) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const nuxt = join("node_modules/nuxt/bin/nuxt.mjs");
execFileSync(process.execPath, [nuxt, "build"], { stdio: ["ignore", "ignore", "inherit"] });

await withMovedCopy(".output", (copy, options) =>
  serveApp(
    [join(copy, "server/index.mjs")],
    async (address) => {
      const answer = await ask(`${address}/api/id`);
      assert.equal(answer.status, 200, await answer.clone().text());
      const { partition, ...others } = await answer.json();
      // The addon is missing, because tracers cannot see how the package loads it.
      assert.deepEqual(others, { backend: "wasm", metabyte: 7, ids: "function", isColumn: true });
      assert.equal(partition, 0);
    },
    { ...options, env: { ...options.env, POLYFLAKE_LEASE: `sqlite:${folderOf(options)}/ids.db?namespace=nuxt` } },
  ),
);

/** Creates a folder that the server's user may write to. */
function folderOf({ uid, gid }) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "polyflake-")));
  if (uid !== undefined) execFileSync("chown", [`${uid}:${gid}`, folder]);
  return folder;
}
