/** wasm that the runtime compiled: Cloudflare's workers, which compile nothing themselves. */
import { glue } from "#family";
import module from "#family.wasm";
import { instantiate } from "./wasm.js";

export const load = () => instantiate(module, glue);
