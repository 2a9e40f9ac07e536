/** What the build puts in the place of names: the package's version, the machine of an entry point, the wasm modules and their glue. */
declare const VERSION: string;

declare module "#machine" {
  type Load = () => import("./machine.js").Backend;
  export const loadSno: Load;
  export const loadRandflake: Load;
  export const loadHotguid: Load;
  export const loadLayout: Load;
  /** Which machine these are; what there is not is refused. */
  export const backend: () => import("./machine.js").Backend["kind"];
}

declare module "#sno" {
  export const glue: import("./machines/wasm.js").Glue;
}

declare module "#randflake" {
  export * from "#sno";
}

declare module "#hotguid" {
  export * from "#sno";
}

declare module "#layout" {
  export * from "#sno";
}

declare module "#sno-base64" {
  export const base64: string;
}

declare module "#randflake-base64" {
  export * from "#sno-base64";
}

declare module "#hotguid-base64" {
  export * from "#sno-base64";
}

declare module "#layout-base64" {
  export * from "#sno-base64";
}

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}
