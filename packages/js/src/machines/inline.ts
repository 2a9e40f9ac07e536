/** wasm that is part of the script and compiled synchronously: browsers, Deno, Bun, bundlers. */
import { base64 } from "#wasm-base64";
import type { Backend } from "../machine.js";
import { instantiate } from "./wasm.js";

export function load(): Backend {
  return instantiate(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
}
