/** Loads the native addon in Node. */
import type { GuardedClock } from "../clock.js";
import { PolyflakeError } from "../errors.js";
import { type Backend, Machine, SCRATCH_BYTES } from "../machine.js";
import type { TableCallbacks } from "../partitions.js";
import { loadCount, sharedState } from "../restores.js";
import { expectedAddon, loadAddon } from "./addon.js";

export { init } from "./opened.js";

type SystemSource = "counter" | "system_call";

interface Addon {
  /** Attaches this thread's backend to the given scratch area, or to the scratch area of an earlier copy of the package. */
  attach(area: Uint8Array): Required<Pick<Backend, "calls" | "makers">> & { area: Uint8Array };
  /** Sets the clock for the next generator that is created. */
  clock(read: GuardedClock["read"], stalled: GuardedClock["stalled"]): void;
  /** Shares the next generator that is created with all threads that create one with equal options. */
  share(worker: string, names: string[], values: string[]): void;
  /** Returns the source of the system time. */
  clockSource(): SystemSource;
  /** Provides the functions of a partition table that the addon does not own. */
  lend(next: TableCallbacks["next"], entry: TableCallbacks["entry"], swap: TableCallbacks["swap"]): void;
  /** Returns how many restores were reported to the addon, in all threads. */
  restores(): number;
  /**
   * Starts the thread that reports restores when the kernel detects them. If restores cannot be detected, returns the
   * reason.
   */
  watchRestores(): string | null;
}

type Native = Backend & Pick<Addon, "clockSource">;

let nativeBackend: Native | undefined;

/**
 * Returns the addon as a backend. It supports all formats.
 *
 * @throws {PolyflakeError} `backend_unavailable` if no addon loads. Its `cause` contains an error for each location that was
 * tried.
 */
export function load(): Native {
  try {
    return (nativeBackend ??= attachAddon(loadAddon() as Addon));
  } catch (cause) {
    throw new PolyflakeError("backend_unavailable", `expected ${expectedAddon}`, { cause });
  }
}

function attachAddon({ attach, clock, clockSource, lend, restores, share, watchRestores }: Addon): Native {
  const { area, calls, makers } = attach(new Uint8Array(new ArrayBuffer(SCRATCH_BYTES)));
  const backend: Native = {
    kind: "native",
    calls,
    makers,
    clockSource,
    setClock: ({ read, stalled }) => clock(read, stalled),
    share: ({ scheme, worker, options = {} }) =>
      share(`${scheme} ${worker}`, Object.keys(options), Object.values(options).map(String)),
    lend: ({ next, entry, swap }) => lend(next, entry, swap),
    buffer: () => area.buffer as ArrayBuffer,
    offset: area.byteOffset,
  };
  const { count, addons } = sharedState();
  // Use the lower of the two counts. The addon's count may include a restore that another thread reported and that this
  // thread's count does not include yet.
  const seen = Math.min(restores(), loadCount(count));
  const report = () => new Machine(backend).check(calls.afterRestore());
  if (!addons.has(area)) addons.set(area, { report, count: () => restores() - seen, watch: watchRestores });
  return backend;
}

export const backend = () => load().kind;

export const clockSource = () => load().clockSource();
