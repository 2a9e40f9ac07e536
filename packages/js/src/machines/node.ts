/** Node: the native addon, and wasm where there is none for the platform. */
import type { Backend } from "../machine.js";
import { load as loadWasm } from "./inline.js";
import { load as loadNative } from "./native.js";

export function load(): Backend {
  try {
    return loadNative();
  } catch {
    return loadWasm();
  }
}
