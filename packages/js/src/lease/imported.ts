import module from "#lease.wasm";
import { Rules } from "./rules.js";

/** Creates the rules for a lease from the wasm module that the runtime compiled. Workers cannot compile wasm themselves. */
export const newRules = (): Rules => new Rules(module);
