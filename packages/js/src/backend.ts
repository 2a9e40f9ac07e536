import { backend as ofMachine } from "#backend";

/**
 * The machine that makes and reads IDs: `"native"`, the addon, or `"wasm"`. The same IDs come out of both.
 *
 * In Node, `polyflake` takes wasm without a word where no addon loads. This function tells, and two ways refuse it:
 * `POLYFLAKE_BACKEND=native` in the environment, and an import of `polyflake/native`. Then the first use fails with
 * `backend_unavailable`, whose `cause` has an error for each place that was tried. `POLYFLAKE_BACKEND=wasm` leaves the addon
 * alone; the variable is read once, at the first use, and `polyflake/native` and `polyflake/wasm` do not heed it.
 *
 * @throws {PolyflakeError} `backend_unavailable`; `out_of_range` for another value of the variable.
 */
export function backend(): "native" | "wasm" {
  return ofMachine();
}
