/**
 * Builds everything that the package ships, as `npm run build`. With names of parts (wasm, native, script, texts), only these; with
 * `--dev`, in less time than code that is shipped.
 */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { buildNative } from "./native.mjs";
import { buildScript } from "./script.mjs";
import { PACKAGE, REPOSITORY } from "./tools.mjs";
import { buildWasm } from "./wasm.mjs";

const TEXT_FILES = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "NOTICE.md", "THIRD-PARTY.md"];

/** The repository's texts, which the package ships. */
function copyTexts() {
  for (const name of TEXT_FILES) copyFileSync(join(REPOSITORY, name), join(PACKAGE, name));
}

const PARTS = { wasm: buildWasm, native: buildNative, script: buildScript, texts: copyTexts };
const dev = process.argv.includes("--dev");
const requestedParts = process.argv.slice(2).filter((argument) => argument !== "--dev");

for (const name of requestedParts) {
  if (!(name in PARTS)) throw new Error(`expected one of ${Object.keys(PARTS).join(", ")}, found ${name}`);
}
for (const [name, part] of Object.entries(PARTS)) {
  if (requestedParts.length === 0 || requestedParts.includes(name)) await part(dev);
}
