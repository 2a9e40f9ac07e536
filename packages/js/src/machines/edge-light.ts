/** wasm that the runtime compiled: Vercel's edge, which asks for it with `?module`. */
import module from "./polyflake.wasm?module";
import type { Backend } from "../machine.js";
import { instantiate } from "./wasm.js";

export function load(): Backend {
  return instantiate(module);
}
