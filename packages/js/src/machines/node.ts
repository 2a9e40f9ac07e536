/** Loads the native addon in Node, or wasm if no addon loads on the platform, unless the environment names one. */
import { backend } from "./choice.js";
import { load as loadWasm } from "./inline.js";
import { load as loadNative } from "./native.js";

export { init } from "./opened.js";

export const load = () => (backend() === "native" ? loadNative() : loadWasm());
