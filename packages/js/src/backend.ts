import { clockSource as ofItsClock, backend as ofMachine } from "#backend";

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

/**
 * The source of the system's time, such as the processor's counter. It is the time of generators without a `clock`.
 *
 * - `"counter"`: the processor's counter, which is set by the wall clock every millisecond. The addon reads it on Linux where the
 *   kernel's own clock does. `POLYFLAKE_CLOCK=exact` in the environment rules it out.
 * - `"system_call"`: a system call for each reading, by the addon.
 * - `"host"`: the runtime's own `Date.now`, on wasm.
 *
 * The addon decides once in a process, when it is first asked or reads the time.
 *
 * @throws {PolyflakeError} As {@link backend}.
 */
export function clockSource(): "counter" | "system_call" | "host" {
  return ofItsClock();
}
