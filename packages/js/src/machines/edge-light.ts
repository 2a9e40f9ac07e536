/** wasm that the runtime compiled: Vercel's edge, which asks for it with `?module`. */
import { glue } from "#family";
import module from "#family.wasm?module";
import { instantiate } from "./wasm.js";

export const load = () => instantiate(module, glue);
