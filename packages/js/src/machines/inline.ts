/**
 * Loads the wasm module that is part of the script, and compiles it synchronously. This is for browsers, Deno, Bun and bundles.
 */
import { glue } from "#family";
import { base64 } from "#family-base64";
import { decodeBase64 } from "./base64.js";
import { instantiate } from "./wasm.js";

export { init } from "./opened.js";

export const load = () => instantiate(decodeBase64(base64), glue);
