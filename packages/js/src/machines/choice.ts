/**
 * Chooses the backend in Node: the one that the environment selects or, by default, the addon if it loads, and wasm otherwise.
 */
import { env } from "node:process";
import { PolyflakeError } from "../errors.js";
import type { Backend } from "../machine.js";
import { backend as native, clockSource as ofAddon } from "./native.js";

type Kind = Backend["kind"];

const VARIABLE = "POLYFLAKE_BACKEND";

/** The backend for all formats, which is chosen on first use. */
let chosen: Kind | undefined;

export const backend = (): Kind => (chosen ??= choose(env[VARIABLE]));

export const clockSource = () => (backend() === "native" ? ofAddon() : "host");

function choose(wanted: string | undefined): Kind {
  if (wanted === "wasm") return wanted;
  if (wanted === "native") return native();
  if (wanted) {
    const message = `expected ${VARIABLE} to be native or wasm, found ${JSON.stringify(wanted)}`;
    throw new PolyflakeError("out_of_range", message, { field: VARIABLE });
  }
  try {
    return native();
  } catch {
    return "wasm";
  }
}
