// Builds a Next.js app and runs two of its servers side by side. The servers lease worker IDs in instrumentation.js or
// through NODE_OPTIONS.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { grantedWorkerIds } from "./places.mjs";
import { ask, serveApp } from "./started.mjs";

const NEXT_BIN = "node_modules/next/dist/bin/next";
const FILES = {
  "app/layout.js": "export default ({ children }) => <html lang='en'><body>{children}</body></html>;",
  "app/page.js": "export default () => <p>leases</p>;",
  "app/id/route.js": `import { sno } from "polyflake";
    export const dynamic = "force-dynamic";
    export const GET = () => Response.json(Array.from({ length: 1000 }, () => sno.generate()));`,
};
const INSTRUMENTATION = `export async function register() {
  if (process.env.NEXT_RUNTIME === "nodejs") {
    const { close, ready } = await import("polyflake/lease");
    await ready();
    process.once("SIGTERM", () => close().then(() => process.exit()));
  }
}`;

mkdirSync("app/id", { recursive: true });
for (const [file, text] of Object.entries(FILES)) writeFileSync(file, text);

const fetchIds = async (address) => (await ask(`${address}/id`)).json();

for (const way of ["instrumentation", "NODE_OPTIONS"]) {
  if (way === "instrumentation") writeFileSync("instrumentation.js", INSTRUMENTATION);
  else rmSync("instrumentation.js");
  execFileSync(process.execPath, [NEXT_BIN, "build"], { stdio: ["ignore", "ignore", "inherit"] });
  const url = `sqlite:${process.cwd()}/${mkdtempSync("leases-")}/ids.db?allow=overlayfs&namespace=next`;
  const options = way === "NODE_OPTIONS" ? { NODE_OPTIONS: "--import polyflake/lease" } : {};
  const withNextServer = (act) => serveApp([NEXT_BIN, "start"], act, { env: { POLYFLAKE_LEASE: url, ...options } });
  await withNextServer((one) =>
    withNextServer(async (other) => {
      const ids = (await Promise.all([fetchIds(one), fetchIds(other), fetchIds(one)])).flat();
      assert.equal(new Set(ids).size, 3000, way);
      assert.equal(
        (await grantedWorkerIds(url)).filter(({ namespace }) => namespace === "next/sno").length >= 2,
        true,
        way,
      );
    }),
  );
  if (way === "instrumentation") assert.deepEqual(await grantedWorkerIds(url), []);
}
