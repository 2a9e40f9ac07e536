import { initSync, scratch, snoBuild } from "#wasm";
import type { Backend } from "../machine.js";

/** The wasm module as a machine, from its compiled form or its bytes. */
export function instantiate(module: WebAssembly.Module | Uint8Array): Backend {
  const { memory, ...exports } = initSync({ module });
  return { kind: "wasm", calls: { ...exports, snoBuild }, buffer: () => memory.buffer, offset: scratch() };
}
