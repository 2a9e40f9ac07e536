/** `npm run build`: everything that the package ships. With names of parts (wasm, native, script), only those. */
import { buildNative } from "./native.mjs";
import { buildScript } from "./script.mjs";
import { buildWasm } from "./wasm.mjs";

const PARTS = { wasm: buildWasm, native: buildNative, script: buildScript };
const wanted = process.argv.slice(2);

for (const name of wanted) {
  if (!(name in PARTS)) throw new Error(`expected one of ${Object.keys(PARTS).join(", ")}, found ${name}`);
}
for (const [name, part] of Object.entries(PARTS)) {
  if (wanted.length === 0 || wanted.includes(name)) await part();
}
