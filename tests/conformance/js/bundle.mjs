// Bundles the code for runtimes without node_modules, and applies the package's export conditions as users' bundlers
// do.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));

/** Bundles a file of this folder, with its imports, into a new folder. */
export async function bundle(entry, conditions, format) {
  const folder = await mkdtemp(join(tmpdir(), "polyflake-conformance-"));
  await build({
    entryPoints: [join(here, entry)],
    outdir: folder,
    bundle: true,
    format,
    globalName: "conformance",
    target: "es2022",
    conditions,
    loader: { ".wasm": "copy" },
    logLevel: "warning",
  });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
