/** Loads wasm, in browsers, from a file next to the script. `init` opens the file. */
import { glue } from "#family";
import { beside } from "./beside.js";
import { instantiate } from "./wasm.js";

// The build puts the name of the family's file here: bundlers look for a literal in this place.
const file = /* @__PURE__ */ beside("#family.wasm", () => new URL("#family.wasm", import.meta.url));

export const init = file.init;
export const load = () => instantiate(file.compiled(), glue);
