/** Loads the wasm module on Vercel's edge runtime, which compiles it and provides it through an import with `?module`. */
import { glue } from "#family";
import module from "#family.wasm?module";
import { instantiate } from "./wasm.js";

export { init } from "./opened.js";

/** Loads the backend. On the edge runtime, the clock advances between requests, but not during a request. */
export const load = () => ({ ...instantiate(module, glue), standsStill: true });
