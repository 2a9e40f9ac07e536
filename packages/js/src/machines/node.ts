/**
 * Loads a backend in Node. An environment variable can select the backend. By default, the native addon is used if it
 * loads, and wasm otherwise.
 */
import { backend } from "./choice.js";
import { load as loadWasm } from "./inline.js";
import { load as loadNative } from "./native.js";

export { init } from "./opened.js";

export const load = () => (backend() === "native" ? loadNative() : loadWasm());
