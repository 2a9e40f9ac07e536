/**
 * Counts how often this process was restored from an image of its memory. Other copies of the process may have been
 * restored from the same image.
 *
 * All copies of the package in a realm share the count, and so do all threads of a process if the runtime lets them share
 * memory. Wasm backends and leases check the count whenever they are used, so one report reaches all of them. The addon has
 * a separate count for all threads of the process. The function that reports a restore therefore also calls each addon that
 * this thread has loaded.
 */
import { getBuiltInModule, kernelBytes, randomBytes } from "./entropy.js";
import { PolyflakeError } from "./errors.js";

/** An addon that this thread has loaded. */
export interface Addon {
  /**
   * Reports a restore.
   *
   * @throws {PolyflakeError} `entropy_unavailable` if the operating system provides no random bytes.
   */
  report(): void;
  /** Returns how many restores were reported to the addon since this thread loaded it. */
  count(): number;
  /**
   * Starts a thread that reports restores when the kernel detects them. If restores cannot be detected, returns the reason.
   */
  watch(): string | null;
}

interface SharedState {
  /** A cell that contains the number of restores that were reported in JavaScript. */
  readonly count: Int32Array;
  /**
   * A cell that contains two numbers: the base, which determines the order in which random partitions are picked, and the
   * number of partitions that were picked. The base is valid if bit 48 is set. The bits above bit 48 count how often the
   * base was replaced.
   */
  readonly order: BigInt64Array;
  /**
   * Maps scratch areas to addons. If several copies of the package on this thread load the same addon, they share its
   * scratch area.
   */
  readonly addons: Map<object, Addon>;
  /**
   * The number of restores, as returned by {@link countRestores}, that the current base takes into account. If the number has
   * changed, the next pick replaces the base. Undefined before the first pick or report.
   */
  based?: number | undefined;
}

const STATE_KEY = Symbol.for("polyflake.restores");

/** The bit that is set once a base has been picked. */
const HAS_BASE = 1n << 48n;

/** Returns the state that all copies of the package in this realm share. The first copy creates it. */
export function sharedState(): SharedState {
  const realm = globalThis as { [STATE_KEY]?: SharedState };
  if (!realm[STATE_KEY]) {
    const memory = sharedMemory("polyflake.restores.1", 16);
    realm[STATE_KEY] = { count: new Int32Array(memory, 0, 1), order: new BigInt64Array(memory, 8), addons: new Map() };
  }
  return realm[STATE_KEY];
}

/** Returns the number of restores in a cell. In an engine without `Atomics`, no other thread shares the cell. */
export const loadCount = (cell: Int32Array): number => (typeof Atomics === "object" ? Atomics.load(cell, 0) : cell[0]!);

/** Returns a number that changes whenever a restore is reported to this thread or to its addons. */
export function countRestores(): number {
  const { count, addons } = sharedState();
  return [...addons.values()].reduce((sum, addon) => sum + addon.count(), loadCount(count));
}

/**
 * Reports a restore to all backends and leases that share the count, and to the addons.
 *
 * The base is replaced before the count is increased, so that a generator that reads the new count picks its partition
 * under the new base. In the opposite order, the generator could pick a partition under the old base, and another copy of
 * the process would pick the same partition.
 *
 * @param load Loads the addon if this copy of the package uses one, because other threads may have loaded the addon.
 * @throws the first error. Even if an error occurs, the restore is reported to all generators and leases.
 */
export function reportRestore(load: () => void): void {
  const realm = sharedState();
  const { count, addons } = realm;
  hasReported = true;
  const failures = [captureFailure(load)];
  const seen = countRestores();
  failures.push(captureFailure(replaceBase));
  const all = [...addons.values()];
  // If there are several tables, replace the base twice. A table may pick partitions from another table, and that table
  // has a new base only after the first pass.
  const reports = all.length > 1 ? [...all, ...all] : all;
  for (const { report } of reports) failures.push(captureFailure(report));
  // If another thread reports a restore in the meantime, the total differs from `based`, and the next pick replaces the
  // base again.
  realm.based = seen + reports.length + 1;
  if (typeof Atomics === "object") Atomics.add(count, 0, 1);
  else count[0]!++;
  for (const failure of failures) if (failure) throw failure.error;
}

/**
 * Makes the addons report the restores that the kernel detects.
 *
 * @param load Loads the addon, if this copy of the package uses one.
 * @throws {PolyflakeError} `watch_unavailable` with the reason.
 */
export function watchAddons(load: () => void): void {
  load();
  const { addons } = sharedState();
  const reasons = [...addons.values()].map(({ watch }) => watch());
  if (reasons.length === 0)
    reasons.push("expected the native addon, found WebAssembly; call afterRestore() in each copy");
  for (const reason of reasons) if (reason) throw new PolyflakeError("watch_unavailable", reason);
}

/** Whether this thread has reported a restore. */
let hasReported = false;

/**
 * Returns random bytes. If the kernel's random bytes are accessible, no other copy of this process receives the same bytes
 * after a restore.
 *
 * The runtime's `crypto` uses a random number generator that keeps its state in the memory of the process and requests new
 * bytes from the system only after minutes. Until then, all copies of an image get the same bytes. Therefore, after a
 * restore, the bytes are combined with random bytes from the kernel.
 *
 * @throws {PolyflakeError} `entropy_unavailable` if no random bytes are available.
 */
export function freshBytes(count: number): Uint8Array {
  const bytes = randomBytes(count);
  const others = hasReported || countRestores() !== 0 ? kernelBytes(count) : undefined;
  return others ? bytes.map((byte, k) => byte ^ others[k]!) : bytes;
}

function captureFailure(step: () => void): { error: unknown } | undefined {
  try {
    step();
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** Returns the base and the number of partitions that were picked so far, and increments that number. */
export function pickNext(): [base: number, count: number] {
  const realm = sharedState();
  const { order } = realm;
  // Another thread may have reported a restore. If that thread uses the same addon but does not share the cell `order` with
  // this thread, its report did not replace the base in this cell.
  const seen = countRestores();
  if (seen !== (realm.based ?? seen)) replaceBase();
  realm.based = seen;
  for (;;) {
    const found = Atomics.load(order, 0);
    // Several threads may pick a base at the same time. The first base wins, because all threads must use the same order.
    if ((found & HAS_BASE) === 0n) tryReplaceBase(order, found, randomBase());
    else {
      // The base and the count share a cell, so that one atomic addition reads the base and increments the count.
      const picked = Atomics.add(order, 0, 1n);
      if ((picked & HAS_BASE) !== 0n) return [Number((picked >> 32n) & 0xffffn), Number(picked & 0xffffn)];
    }
  }
}

/** Replaces the base. If no random bytes are available, the next pick chooses the base. */
function replaceBase(): void {
  // Without `Atomics`, partitions cannot be assigned at random, so there is no base to replace.
  if (typeof Atomics !== "object") return;
  const { order } = sharedState();
  let [found, base] = [0n, 0n];
  let failure: ReturnType<typeof captureFailure>;
  do {
    found = Atomics.load(order, 0);
    base = 0n;
    failure = captureFailure(() => (base = randomBase()));
  } while (!tryReplaceBase(order, found, base));
  if (failure) throw failure.error;
}

/**
 * Replaces the base if the cell still contains `found`, and returns whether the base was replaced. When the image was
 * taken, another thread may have picked a base without having stored it yet, so that all copies of the process would store
 * the same base. Each replacement is therefore counted. If the base was replaced after a thread read the cell, the thread
 * discards the base that it picked, and tries again.
 */
function tryReplaceBase(order: BigInt64Array, found: bigint, base: bigint): boolean {
  const replaced = (((found >> 49n) + 1n) << 49n) | base | (found & 0xffffffffn);
  return Atomics.compareExchange(order, 0, found, replaced) === found;
}

const randomBase = (): bigint => HAS_BASE | (BigInt(random16()) << 32n);

/** Returns 16 random bits. */
export function random16(): number {
  const [high, low] = freshBytes(2);
  return (high! << 8) | low!;
}

/**
 * Returns memory that all threads of the process share under the given name, or memory that only this realm uses if threads
 * cannot share memory. Threads that start later receive the same memory.
 */
export function sharedMemory(name: string, bytes: number): ArrayBufferLike {
  try {
    const threads = getBuiltInModule("node:worker_threads")!;
    const existing = threads.getEnvironmentData(name);
    if (existing?.byteLength === bytes) return existing;
    const created = new SharedArrayBuffer(bytes);
    threads.setEnvironmentData(name, created);
    return created;
  } catch {
    return new ArrayBuffer(bytes);
  }
}
