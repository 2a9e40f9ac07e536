/**
 * Runs calls that wait for IDs without blocking the thread. The backend decides, one step at a time, when a call waits and
 * for how long. The functions in this file sleep between the steps.
 *
 * As long as IDs are available, a batch is generated without waiting. Only the ID at which the tick is exhausted is
 * awaited, because a call that waits costs a promise and a timer. The batch also yields from time to time, so that one call
 * of 16 million IDs does not block the thread for seconds.
 */
import { isObject } from "./checks.js";
import { invalidType, PolyflakeError } from "./errors.js";
import { members } from "./members.js";

/** The members of an AbortSignal, from any realm, that this package uses. */
export interface Signal {
  /** `true` once the signal is aborted. */
  readonly aborted: boolean;
  /** The reason that aborted calls reject with. */
  readonly reason?: unknown;
  /** Calls the listener when the signal is aborted. */
  addEventListener(type: "abort", listener: () => void): void;
  /** Removes the listener once the call has ended. */
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Options for a call that can be aborted before it returns an ID. */
export interface AsyncOptions {
  /** An `AbortSignal`. When it is aborted, the call rejects with the signal's reason. */
  signal?: Signal | undefined;
}

/** The number of IDs that one call generates before it yields to other work. */
const MAX_BATCH = 1 << 16;

/**
 * Returns the signal in a call's options. Throws if the signal is already aborted.
 *
 * @throws {PolyflakeError} `invalid_type` or `unknown_field` if an option is invalid; the signal's reason if the signal is
 * aborted.
 */
export function checkSignal(options: unknown): Signal | undefined {
  const { signal } = members(options, "options", ["signal"]);
  if (signal === undefined) return undefined;
  if (!isSignal(signal)) throw invalidType("AbortSignal", signal, { field: "signal" });
  throwIfAborted(signal);
  return signal;
}

function isSignal(value: unknown): value is Signal {
  const { aborted, addEventListener, removeEventListener } = (isObject(value) ? value : {}) as Partial<Signal>;
  return (
    typeof aborted === "boolean" && typeof addEventListener === "function" && typeof removeEventListener === "function"
  );
}

function throwIfAborted(signal: Signal | undefined): void {
  if (signal?.aborted) throw signal.reason;
}

/**
 * Sleeps for at least `nanos` nanoseconds, using the realm's current `setTimeout`, which tests may have replaced.
 *
 * The timer keeps the process alive, because the process could otherwise end before the ID is generated.
 *
 * @throws {PolyflakeError} `clock_failed` in a realm without timers; the signal's reason, as soon as the signal is aborted.
 */
export function abortableSleep(nanos: number, signal: Signal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    throwIfAborted(signal);
    if (typeof setTimeout !== "function")
      throw new PolyflakeError("clock_failed", "expected `setTimeout` to wait with, found none");
    const done = (settle: () => void) => () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      settle();
    };
    const abort = done(() => reject(signal!.reason));
    // Round the time up. Otherwise, the call would wake before the tick begins and have to sleep again.
    const timer = setTimeout(done(resolve), Math.ceil(nanos / 1e6));
    signal?.addEventListener("abort", abort);
  });
}

/** The functions that generate IDs for a call that may wait. */
export interface BatchSource {
  /**
   * Generates at most `count` IDs and returns their bytes, which the caller must copy immediately. The result is empty if the
   * call would have to wait. `made` is the number of IDs that earlier calls generated.
   */
  some(count: number, made: number): Uint8Array;
  /** Generates one ID, waiting if needed, and returns its bytes, which the caller may keep. */
  one(made: number): Promise<Uint8Array>;
}

/**
 * Fills `many` with IDs of `size` bytes each, in batches of at most `batch` IDs. At least one batch is requested, so that the
 * arguments are checked even if the count is 0.
 */
export async function fillAsync(
  many: Uint8Array,
  size: number,
  batch: number,
  { some, one }: BatchSource,
  signal?: Signal,
): Promise<Uint8Array> {
  let rested = 0;
  for (let at = 0; ; ) {
    const made = at / size;
    let ids = some(Math.min(batch, (many.length - at) / size), made);
    if (ids.length === 0 && at < many.length) ids = await one(made);
    many.set(ids, at);
    at += ids.length;
    if (at === many.length) return many;
    if (at - rested < MAX_BATCH * size) continue;
    rested = at;
    await abortableSleep(0, signal);
  }
}
