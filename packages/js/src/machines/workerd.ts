/** Loads wasm that the runtime compiled, in Cloudflare Workers, whose code must not compile wasm itself. */
import { glue } from "#family";
import module from "#family.wasm";
import { instantiate } from "./wasm.js";

export { init } from "./opened.js";

/** The clock of these workers advances between requests, but not during a request. */
export const load = () => ({ ...instantiate(module, glue), standsStill: true });
