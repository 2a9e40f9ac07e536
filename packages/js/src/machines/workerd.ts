/** wasm that the runtime compiled: Cloudflare's workers, which compile nothing themselves. */
import module from "./polyflake.wasm";
import type { Backend } from "../machine.js";
import { instantiate } from "./wasm.js";

export function load(): Backend {
  return instantiate(module);
}
