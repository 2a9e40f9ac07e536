/** Node: the native addon, and wasm where there is none for the platform, unless the environment says which one. */
import { env } from "node:process";
import { PolyflakeError } from "../errors.js";
import type { Backend } from "../machine.js";
import * as wasm from "./inline.js";
import * as native from "./native.js";

type Kind = Backend["kind"];

const VARIABLE = "POLYFLAKE_BACKEND";

/** One for all families, decided at the first use. */
let chosen: Kind | undefined;

export const backend = (): Kind => (chosen ??= choose(env[VARIABLE]));

function choose(wanted: string | undefined): Kind {
  if (wanted === "wasm") return wanted;
  if (wanted === "native") return native.backend();
  if (wanted) {
    const message = `expected ${VARIABLE} to be native or wasm, found ${JSON.stringify(wanted)}`;
    throw new PolyflakeError("out_of_range", message, { field: VARIABLE });
  }
  try {
    return native.backend();
  } catch {
    return wasm.backend();
  }
}

const either = (loadNative: () => Backend, loadWasm: () => Backend) => (): Backend => backend() === "native" ? loadNative() : loadWasm();

export const loadSno = /* @__PURE__ */ either(native.loadSno, wasm.loadSno);
export const loadRandflake = /* @__PURE__ */ either(native.loadRandflake, wasm.loadRandflake);
export const loadHotguid = /* @__PURE__ */ either(native.loadHotguid, wasm.loadHotguid);
export const loadLayout = /* @__PURE__ */ either(native.loadLayout, wasm.loadLayout);
