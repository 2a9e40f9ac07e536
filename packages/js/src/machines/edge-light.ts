/** Loads wasm that the runtime compiled, on Vercel's edge runtime, where an import with `?module` provides it. */
import { glue } from "#family";
import module from "#family.wasm?module";
import { instantiate } from "./wasm.js";

export { init } from "./opened.js";

/** The clock of these workers advances between requests, but not during a request. */
export const load = () => ({ ...instantiate(module, glue), standsStill: true });
