/**
 * Loads wasm from a module of CommonJS, which is read at the first use. Bundlers take such a module along, so the machine also runs
 * from a bundle that has left the package; a file that is read from the disk would stay behind.
 */
import { glue } from "#family";
import { decodeBase64 } from "./base64.js";
import { instantiate } from "./wasm.js";

export { init } from "./opened.js";

export const load = () => instantiate(decodeBase64(require("#family-base64").base64), glue);
