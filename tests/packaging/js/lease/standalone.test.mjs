// Tests a standalone Next.js server. It contains only the traced files, and leases worker IDs from PostgreSQL.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { withMovedCopy } from "./moved.mjs";
import { grantedWorkerIds, STORE_FACTORIES } from "./places.mjs";
import { ask, serveApp } from "./started.mjs";

const FILES = {
  "next.config.mjs": `export default { output: "standalone" };`,
  "app/layout.js": "export default ({ children }) => <html lang='en'><body>{children}</body></html>;",
  "app/page.js": "export default () => <p>leases</p>;",
  "app/id/route.js": `import { sno } from "polyflake";
    export const dynamic = "force-dynamic";
    export const GET = () => Response.json(sno.parse(sno.generate(7)));`,
  "instrumentation.js": `export async function register() {
    if (process.env.NEXT_RUNTIME !== "nodejs") return;
    const { close, ready } = await import("polyflake/lease/pg");
    await ready();
    process.once("SIGTERM", () => close().then(() => process.exit()));
  }`,
};

test("a standalone Next.js server leases from PostgreSQL", { skip: !STORE_FACTORIES.pg }, async () => {
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const { url } = STORE_FACTORIES.pg();
  const next = join("node_modules/next/dist/bin/next");
  execFileSync(process.execPath, [next, "build"], { stdio: ["ignore", "ignore", "inherit"] });
  await withMovedCopy(".next/standalone", (copy, options) =>
    serveApp(
      [join(copy, "server.js")],
      async (address) => {
        const answer = await ask(`${address}/id`);
        assert.equal(answer.status, 200);
        assert.equal((await answer.json()).metabyte, 7);
        assert.equal(
          (await grantedWorkerIds(url)).some(({ namespace }) => namespace.endsWith("/sno")),
          true,
        );
      },
      { ...options, env: { ...options.env, POLYFLAKE_LEASE: url } },
    ),
  );
});
