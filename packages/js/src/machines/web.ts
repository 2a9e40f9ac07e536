/** Loads the wasm module in browsers, from a file next to the script. `init` opens the file. */
import { glue } from "#family";
import { separateModule } from "./separate.js";
import { instantiate } from "./wasm.js";

// The build inserts the format's file name here, because bundlers look for a string literal in this position.
const file = /* @__PURE__ */ separateModule("#family.wasm", () => new URL("#family.wasm", import.meta.url));

export const init = file.init;
export const load = () => instantiate(file.compiled(), glue);
