/** Which machine Node has: the addon where there is one for the platform, unless the environment says which one. */
import { env } from "node:process";
import { PolyflakeError } from "../errors.js";
import type { Backend } from "../machine.js";
import { backend as native } from "./native.js";

type Kind = Backend["kind"];

const VARIABLE = "POLYFLAKE_BACKEND";

/** One for all families, decided at the first use. */
let chosen: Kind | undefined;

export const backend = (): Kind => (chosen ??= choose(env[VARIABLE]));

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
