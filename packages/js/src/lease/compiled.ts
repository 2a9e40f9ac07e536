import { base64 } from "#lease-base64";
import { decodeBase64 } from "../machines/base64.js";
import { Rules } from "./rules.js";

let compiledModule: WebAssembly.Module | undefined;

/** Creates the rules for a lease from the wasm module that is embedded in the script as base64. */
export function newRules(): Rules {
  compiledModule ??= new WebAssembly.Module(decodeBase64(base64) as BufferSource);
  return new Rules(compiledModule);
}
