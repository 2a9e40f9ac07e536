/**
 * Loads the wasm module in Cloudflare Workers. The runtime compiles the module, because code in a Worker is not allowed to
 * compile wasm.
 */
import { glue } from "#family";
import module from "#family.wasm";
import { instantiate } from "./wasm.js";

export { init } from "./opened.js";

/** In these workers, the clock advances between requests, but not during a request. */
export const load = () => ({ ...instantiate(module, glue), standsStill: true });
