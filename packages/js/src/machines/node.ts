/**
 * Loads a backend in Node: the one that the environment selects or, by default, the native addon if it loads, and wasm
 * otherwise.
 */
import { backend } from "./choice.js";
import { load as loadWasm } from "./inline.js";
import { load as loadNative } from "./native.js";

export { init } from "./opened.js";

export const load = () => (backend() === "native" ? loadNative() : loadWasm());
