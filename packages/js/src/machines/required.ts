/**
 * Loads wasm from a CommonJS module, which is loaded on first use. Bundlers include such a module in their output, so the
 * backend also works if the bundle is moved to a different location. Bundlers would not include a file that is read from
 * disk.
 */
import { glue } from "#family";
import { decodeBase64 } from "./base64.js";
import { instantiate } from "./wasm.js";

export { init } from "./opened.js";

export const load = () => instantiate(decodeBase64(require("#family-base64").base64), glue);
