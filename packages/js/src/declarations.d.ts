/** Names that the build replaces: the package's version, the platforms that have addons, the machine of an entry point, the wasm modules and their glue. */
declare const VERSION: string;

/** Names of platforms by operating system and processor: Linux has two C libraries. */
declare const PLATFORMS: Readonly<Record<string, readonly string[]>>;

/** The kind of machine of an entry point, and the source of its time. */
declare module "#backend" {
  export const backend: () => import("./machine.js").Backend["kind"];
  export const clockSource: () => "counter" | "system_call" | "host";
}

/** The machine of the family whose name follows; `load` throws if it is not available. */
declare module "#machine/*" {
  export const load: () => import("./machine.js").Backend;
  /** Opens the file of the module, where it lies beside the script. */
  export const init: import("./init.js").Init;
}

/** The glue of a family's wasm module, in a file of `machines`, which is built for each family. */
declare module "#family" {
  export const glue: import("./machines/wasm.js").Glue;
}

declare module "#family-base64" {
  /** The module in base64. */
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

declare module "#lease-base64" {
  /** The rules of leases in base64. */
  export const base64: string;
}
