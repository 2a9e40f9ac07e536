/** What the build puts in the place of names: the machine of an entry point, the wasm module and its glue. */
declare module "#machine" {
  export function load(): import("./machine.js").Backend;
}

declare module "#wasm" {
  type Calls = import("./machine.js").Calls;
  /** Gives what the module exports: the calls without arguments need no glue. */
  export function initSync(source: {
    module: WebAssembly.Module | Uint8Array;
  }): Omit<Calls, "snoBuild" | "snoDraw"> & { memory: WebAssembly.Memory; __stack_pointer: WebAssembly.Global };
  export function scratch(): number;
  export const snoBuild: Calls["snoBuild"];
}

declare module "#wasm-base64" {
  export const base64: string;
}

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}
