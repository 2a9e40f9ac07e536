/** Node: the native addon, and wasm where there is none for the platform, unless the environment says which one. */
import { backend } from "./choice.js";
import { load as loadWasm } from "./inline.js";
import { load as loadNative } from "./native.js";

export const load = () => (backend() === "native" ? loadNative() : loadWasm());
