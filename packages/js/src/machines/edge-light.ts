/** Loads wasm that the runtime compiled, on Vercel's edge, where `?module` imports it. */
import { glue } from "#family";
import module from "#family.wasm?module";
import { instantiate } from "./wasm.js";

export { init } from "./opened.js";

/** The clock of these workers moves between requests, and stands still during one. */
export const load = () => ({ ...instantiate(module, glue), standsStill: true });
