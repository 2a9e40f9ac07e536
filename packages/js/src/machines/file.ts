/** Loads wasm from a file of the package, which Node reads at the first use. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { glue } from "#family";
import { PolyflakeError } from "../errors.js";
import { instantiate } from "./wasm.js";

export { init } from "./opened.js";

export const load = () => instantiate(moduleBytes(), glue);

function moduleBytes(): Uint8Array {
  // The build puts the name of the family's file here.
  const file = join(__dirname, "../esm/#family.wasm");
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new PolyflakeError("backend_unavailable", `expected a wasm module at ${file}, found none`, { cause });
  }
}
