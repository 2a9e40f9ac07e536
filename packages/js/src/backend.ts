import { clockSource as ofItsClock, backend as ofMachine } from "#backend";
import { reportRestore, watchAddons } from "./restores.js";

/**
 * Returns the backend that generates and reads IDs: `"native"` (the addon) or `"wasm"`. Both behave the same way.
 *
 * In Node, `polyflake` silently falls back to wasm if the addon does not load. To prevent the fallback, set
 * `POLYFLAKE_BACKEND=native` in the environment or import `polyflake/native`. If the addon does not load, the first use then
 * throws `backend_unavailable`, and the error's `cause` contains an error for each location that was tried. With
 * `POLYFLAKE_BACKEND=wasm`, the addon is never loaded. The variable is read only once, at the first use. `polyflake/native` and
 * `polyflake/wasm` ignore it.
 *
 * @throws {PolyflakeError} `backend_unavailable` if the requested backend cannot run here; `out_of_range` if the environment
 * variable has an unknown value.
 */
export function backend(): "native" | "wasm" {
  return ofMachine();
}

/**
 * Returns how generators without a `clock` option read the system time.
 *
 * - `"counter"` means that they read the processor's counter, which is synchronized with the wall clock every millisecond. The
 *   addon does so on Linux if the kernel's own clock uses the counter. Set `POLYFLAKE_CLOCK=exact` in the environment to force
 *   system calls.
 * - `"system_call"` means that the addon makes a system call for each reading.
 * - `"host"` means that wasm calls the runtime's own `Date.now`.
 *
 * The addon makes this choice once per process: when a generator first reads the clock, or when this function is first called.
 *
 * @throws {PolyflakeError} the same errors as {@link backend}.
 */
export function clockSource(): "counter" | "system_call" | "host" {
  return ofItsClock();
}

/**
 * Reports that this process was restored from an image of its memory, from which other copies may also have been restored.
 *
 * Call this function in each copy before it generates IDs: in a virtual machine that was restored from a snapshot, or after
 * CRIU restored the process. Without this call, the copies generate the same IDs.
 *
 * Default worker IDs and the random bytes of generators are replaced. Each lease is abandoned, and another worker ID is
 * leased. Generators with an explicit worker ID, grant or window throw `forked`. Create new generators with a worker ID
 * that no other copy uses. A call that is in progress may still return an ID that another copy also returns.
 *
 * One call affects all ID formats, all copies of the package on this thread and, with the native addon, all threads of the
 * process that use the same addon. With WebAssembly on Windows, in Deno, in browsers and in edge workers, the kernel's
 * random bytes are not available, so copies that were restored at the same time may pick the same values.
 *
 * With WebAssembly, a call affects the threads that share memory with this thread. In Node, Deno and Bun, these are the
 * threads that were started after this thread had created a generator. Call this function once before you start workers, or
 * call it in each worker. Each web worker, tab and edge isolate needs its own call.
 *
 * @throws {PolyflakeError} `entropy_unavailable` if no random bytes are available. Even then, explicit worker IDs are
 * rejected, and default worker IDs are assigned once random bytes are available. `backend_unavailable` if
 * `polyflake/native` finds no addon.
 */
export function afterRestore(): void {
  reportRestore(ofMachine);
}

/**
 * Starts a thread that reports a restore, like {@link afterRestore}, whenever the kernel notices that this virtual machine is a
 * restored copy. If the thread is already running, the call has no effect.
 *
 * The thread requires the native addon, Linux 5.18 or later, a hypervisor that changes the machine's generation ID
 * (VMGENID), such as Firecracker, Cloud Hypervisor or QEMU, and permission to read `/dev/kmsg`, where the kernel reports a
 * restore. The thread does not detect other copies of a process, such as copies made by CRIU or AWS Lambda.
 *
 * The thread detects a restore after a short delay, so IDs that the program generates during the delay may also exist in
 * another copy. The report affects all threads of the process that use the same addon, and their leases, but not generators
 * that use WebAssembly.
 *
 * @throws {PolyflakeError} `watch_unavailable` with WebAssembly, on other systems, in a machine without a generation ID, and
 * without permission to read the log; `backend_unavailable` if `polyflake/native` finds no addon.
 */
export function watchRestores(): void {
  watchAddons(ofMachine);
}
