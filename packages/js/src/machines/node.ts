/** Node: the native addon, and wasm where there is none for the platform. */
import type { Backend } from "../machine.js";
import * as wasm from "./inline.js";
import * as native from "./native.js";

const either = (loadNative: () => Backend, loadWasm: () => Backend) => (): Backend => {
  try {
    return loadNative();
  } catch {
    return loadWasm();
  }
};

export const loadSno = /* @__PURE__ */ either(native.loadSno, wasm.loadSno);
export const loadRandflake = /* @__PURE__ */ either(native.loadRandflake, wasm.loadRandflake);
export const loadHotguid = /* @__PURE__ */ either(native.loadHotguid, wasm.loadHotguid);
export const loadLayout = /* @__PURE__ */ either(native.loadLayout, wasm.loadLayout);
