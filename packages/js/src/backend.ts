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
 * Reports that this process was restored from an image of its memory, of which there may be other copies.
 *
 * Call this function in each copy before it generates IDs: in a virtual machine that was restored from a snapshot, or after
 * CRIU restored the process. Without this call, the copies generate the same IDs.
 *
 * Default worker IDs and generators' random bytes are assigned anew. A lease is abandoned, and another worker ID is leased.
 * Generators with an explicit worker ID, grant or window throw `forked`: create new ones, with a worker ID that no other copy
 * uses. A call that is in progress may return an ID that another copy returns, too.
 *
 * One call reaches all formats, all copies of the package on this thread and, with the native addon, all threads of the
 * process that use the same addon. With WebAssembly on Windows, in Deno, in browsers and in edge workers, there are no random
 * bytes of the kernel, and copies that were restored at the same time may pick the same values.
 *
 * With WebAssembly, it reaches the threads that share memory with this one: in Node, Deno and Bun, those that were started
 * after this thread had created a generator. Call it once before you start workers, or call it in each worker. Each web
 * worker, tab and edge isolate needs its own call.
 *
 * @throws {PolyflakeError} `entropy_unavailable` if there are no random bytes. Even then, explicit worker IDs are rejected, and
 * default ones are assigned once there are random bytes. `backend_unavailable` if `polyflake/native` finds no addon.
 */
export function afterRestore(): void {
  reportRestore(ofMachine);
}

/**
 * Starts a thread that reports a restore, like {@link afterRestore}, whenever the kernel notices that this virtual machine is a
 * restored copy. If the thread is already running, the call has no effect.
 *
 * This requires the native addon, Linux 5.18 or later, a hypervisor that changes the machine's generation ID (VMGENID), such
 * as Firecracker, Cloud Hypervisor or QEMU, and the permission to read `/dev/kmsg`, which is where the kernel reports it. It
 * does not notice other copies of a process, such as those of CRIU or AWS Lambda.
 *
 * The thread learns of a restore a moment later, so IDs that the program generates in that moment may exist in another copy. It
 * reaches all threads of the process that use the same addon, and their leases, but no generators with WebAssembly.
 *
 * @throws {PolyflakeError} `watch_unavailable` with WebAssembly, on other systems, in a machine without a generation ID, and
 * without permission to read the log; `backend_unavailable` if `polyflake/native` finds no addon.
 */
export function watchRestores(): void {
  watchAddons(ofMachine);
}
