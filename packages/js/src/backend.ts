import { backend as ofMachine } from "#backend";

/**
 * The machine that makes and reads IDs: `"native"`, the addon, or `"wasm"`. Both make the same IDs.
 *
 * In Node, `polyflake` silently falls back to wasm where no addon loads. To rule that out, set `POLYFLAKE_BACKEND=native` in the
 * environment or import `polyflake/native`: the first use then fails with `backend_unavailable`, whose `cause` has an error for
 * each place that was tried. `POLYFLAKE_BACKEND=wasm` never loads the addon. The variable is read once, at the first use;
 * `polyflake/native` and `polyflake/wasm` ignore it.
 *
 * @throws {PolyflakeError} `backend_unavailable`; `out_of_range` for another value of the variable.
 */
export function backend(): "native" | "wasm" {
  return ofMachine();
}
