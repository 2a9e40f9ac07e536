/**
 * Names that the build replaces: the package version, the platforms that have addons, an entry point's backend, and the wasm
 * modules with their glue code.
 */
declare const VERSION: string;

/**
 * The names of the platforms for each combination of operating system and processor. A combination with Linux can have
 * several names, because Linux has two C libraries.
 */
declare const PLATFORMS: Readonly<Record<string, readonly string[]>>;

/** An entry point's backend and time source. */
declare module "#backend" {
  export const backend: () => import("./machine.js").Backend["kind"];
  export const clockSource: () => "counter" | "system_call" | "host";
}

/** The backend for the ID format whose name replaces the asterisk. `load` throws if the backend is not available. */
declare module "#machine/*" {
  export const load: () => import("./machine.js").Backend;
  /** Loads the wasm module, if it is in a separate file next to the script. */
  export const init: import("./init.js").Init;
}

/** The glue code for a format's wasm module. The files in `machines` that import it are built once for each format. */
declare module "#family" {
  export const glue: import("./machines/wasm.js").Glue;
}

declare module "#family-base64" {
  /** The WebAssembly module, encoded in base64. */
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
  /** The WebAssembly module that implements the lease rules, encoded in base64. */
  export const base64: string;
}

/** The rules for a lease in a Worker. Workers import the wasm module, and Node compiles it. */
declare module "#rules" {
  export const newRules: () => import("./lease/rules.js").Rules;
}

declare module "#lease.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
