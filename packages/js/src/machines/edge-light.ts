/** Loads the wasm module on Vercel's edge runtime, which compiles it and provides it through an import with `?module`. */
import { glue } from "#family";
import module from "#family.wasm?module";
import { instantiate } from "./wasm.js";

export { init } from "./opened.js";

/** In these workers, the clock advances between requests, but not during a request. */
export const load = () => ({ ...instantiate(module, glue), standsStill: true });
