/**
 * Builds everything that the package ships. Run it with `npm run build`. To build only some parts, pass their names
 * (wasm, native, script, texts). `--dev` makes the build faster, but the built code is larger and slower.
 */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { buildNative } from "./native.mjs";
import { buildScript } from "./script.mjs";
import { PACKAGE, REPOSITORY } from "./tools.mjs";
import { buildWasm } from "./wasm.mjs";

const TEXT_FILES = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "NOTICE.md", "THIRD-PARTY.md"];

/** Copies the licences and other documents of the repository, which the package ships. */
function copyTextFiles() {
  for (const name of TEXT_FILES) copyFileSync(join(REPOSITORY, name), join(PACKAGE, name));
}

const PARTS = { wasm: buildWasm, native: buildNative, script: buildScript, texts: copyTextFiles };
const isDevBuild = process.argv.includes("--dev");
const requestedParts = process.argv.slice(2).filter((argument) => argument !== "--dev");

for (const name of requestedParts) {
  if (!(name in PARTS)) throw new Error(`expected one of ${Object.keys(PARTS).join(", ")}, found ${name}`);
}
for (const [name, part] of Object.entries(PARTS)) {
  if (requestedParts.length === 0 || requestedParts.includes(name)) await part(isDevBuild);
}
