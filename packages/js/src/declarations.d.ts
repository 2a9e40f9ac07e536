/** What the build puts in the place of names: the package's version, the machine of an entry point, the wasm modules and their glue. */
declare const VERSION: string;

/** Which machine an entry point has. */
declare module "#backend" {
  export const backend: () => import("./machine.js").Backend["kind"];
}

/** The machine of the family whose name follows; what there is not is refused. */
declare module "#machine/*" {
  export const load: () => import("./machine.js").Backend;
  /** Of the entry point `web` alone. */
  export const init: import("./init.js").Init;
}

/** The glue of a family's wasm module, in a file of `machines`, which is built for each family. */
declare module "#family" {
  export const glue: import("./machines/wasm.js").Glue;
}

declare module "#family-base64" {
  export const base64: string;
}

declare module "#family.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "#family.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}
