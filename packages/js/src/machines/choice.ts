/**
 * Chooses the backend in Node. An environment variable can select the backend. By default, the addon is used if it loads,
 * and wasm otherwise.
 */
import { env } from "node:process";
import { PolyflakeError } from "../errors.js";
import type { Backend } from "../machine.js";
import { backend as native, clockSource as ofAddon } from "./native.js";

type Kind = Backend["kind"];

const BACKEND_VARIABLE = "POLYFLAKE_BACKEND";

/** The backend for all formats, which is chosen on first use. */
let chosenKind: Kind | undefined;

export const backend = (): Kind => (chosenKind ??= chooseKind(env[BACKEND_VARIABLE]));

export const clockSource = () => (backend() === "native" ? ofAddon() : "host");

function chooseKind(wanted: string | undefined): Kind {
  if (wanted === "wasm") return wanted;
  if (wanted === "native") return native();
  if (wanted) {
    const message = `expected ${BACKEND_VARIABLE} to be native or wasm, found ${JSON.stringify(wanted)}`;
    throw new PolyflakeError("out_of_range", message, { field: BACKEND_VARIABLE });
  }
  try {
    return native();
  } catch {
    return "wasm";
  }
}
