/** Loads wasm that the runtime compiled, in Cloudflare's workers, which must not compile any themselves. */
import { glue } from "#family";
import module from "#family.wasm";
import { instantiate } from "./wasm.js";

export { init } from "./opened.js";

/** The clock of these workers moves between requests, and stands still during one. */
export const load = () => ({ ...instantiate(module, glue), standsStill: true });
