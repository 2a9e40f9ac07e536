import { ABSENT, checkOptionalInteger, checkTime } from "./checks.js";
import { type GuardedClock, guardClock, type Stall } from "./clock.js";
import { invalidType, PolyflakeError } from "./errors.js";
import type { AnyLease } from "./leased.js";
import type { Machine } from "./machine.js";
import { checkPair, members } from "./members.js";
import { register } from "./protocol.js";
import type { Sharing } from "./sharing.js";

/** Options that every generator has. */
export interface SharedOptions {
  /**
   * A function that returns the time in Unix milliseconds. The default is the system clock.
   *
   * The generator trusts every reading, so a reading far in the future permanently advances the generator. Until the clock
   * catches up, calls throw `clock_behind` or, if the format allows it, generate IDs for that future tick. An error that the
   * function throws becomes the `cause` of `clock_failed`.
   */
  clock?: () => number;
  /**
   * A clock for tests, used in place of `clock`. It may stand still or move backwards. The first call then uses the current
   * tick, so a generator that is created again repeats the IDs of the one before it.
   */
  testClock?: () => number;
  /** What to do when all IDs in a tick are used up, or when the clock is behind. The default is `"wait"`. */
  onExhausted?: "wait" | "error";
  /**
   * The longest time that one call can wait, in milliseconds. The default is one tick, but at most 10 ms.
   *
   * Calls whose names end with `Async` let other work run on the thread while they wait. All other calls block the thread. The
   * main thread of a page and most edge workers cannot block, so these calls throw there instead of waiting.
   *
   * The first call of a generator with an explicit worker ID waits for the next tick, because an earlier generator may have
   * generated IDs in the current tick. By default, it waits at most one second. On a thread that cannot sleep, it waits at most
   * 10 ms, and throws `sequence_exhausted` if the tick ends later. Use `await generateAsync()` on such a thread.
   */
  maxWait?: number;
  /**
   * A callback for calls that have to wait. It is called before each sleep. If it throws an error, the call ends and the error
   * propagates.
   */
  onStall?: (stall: Stall) => void;
}

/** Options for a generator that can have either its own window or a lease that provides the window. */
export type WindowOptions = SharedOptions & (OwnWindow | LeasedWindow);

interface LeasedWindow {
  /**
   * A lease from `polyflake/lease`, which provides the generator's worker ID and the time span in which the worker ID is valid.
   * Before the first grant, and after the lease has expired because the store is unreachable, calls throw `lease_unavailable`.
   * `generateAsync` waits instead.
   */
  lease: AnyLease;
  window?: never;
}

interface OwnWindow {
  lease?: never;
  /** The half-open time span in which IDs can be generated, as Dates or integer Unix milliseconds. */
  window?: readonly [start: Date | number, end: Date | number];
}

export const SHARED_OPTIONS = ["clock", "testClock", "onExhausted", "maxWait", "onStall"] as const;
export const WINDOW_OPTIONS = ["window", "lease", ...SHARED_OPTIONS] as const;

/**
 * The options that all generators share, as numbers. The window and the longest wait are in milliseconds. `onExhausted` is 0 to
 * wait and 1 to fail. `beginning` is 0 if other generators may have the same worker ID, and 1 if a generator with an explicit
 * worker ID skips the tick of its first call.
 */
export interface SharedValues {
  readonly windowStart: number;
  readonly windowEnd: number;
  readonly onExhausted: number;
  readonly maxWait: number;
  readonly beginning: number;
}

/**
 * The checked options. `shared` contains the options that all formats share, as numbers. Only the JavaScript side uses the
 * other properties.
 */
export interface SharedSettings<Name extends string> {
  readonly shared: SharedValues;
  readonly clock: GuardedClock | undefined;
  /**
   * The options by which a generator is shared, or undefined for a generator with a clock for tests or with a lease, which is
   * never shared.
   */
  readonly sharing: Sharing["options"] | undefined;
  /** The bounds of the window, as the caller passed them. */
  readonly times: readonly unknown[];
  /** All options as the caller passed them. */
  readonly given: Partial<Record<Name, unknown>>;
}

/** Reads each option of a generator once, and rejects options that are not in `names`. */
export function readSharedSettings<Name extends string>(
  options: unknown,
  names: readonly Name[],
): SharedSettings<Name> {
  const own = members(options, "options", names);
  const given: Partial<Record<(typeof WINDOW_OPTIONS)[number], unknown>> = own;
  const times = given.window === undefined ? [] : checkPair(given.window, "window", "times");
  const [windowStart = ABSENT, windowEnd = ABSENT] = times.map((each) => checkTime(each, "window"));
  const onExhausted = readOnExhausted(given.onExhausted);
  const maxWait = checkOptionalInteger(given.maxWait, "maxWait");
  const { clock, onStall } = given;
  const sharing = {
    window: `${windowStart} ${windowEnd}`,
    onExhausted: onExhausted || 0,
    maxWait: `${maxWait}`,
    clock,
    onStall,
  };
  // A clock for tests may be set manually or replay a recording, so the generator need not skip its first tick. Under a
  // lease, the generator need not skip it either, because a lease begins only after the previous lease has ended.
  const isRegistered = given.testClock === undefined && given.lease === undefined;
  return {
    shared: { windowStart, windowEnd, onExhausted, maxWait, beginning: Number(isRegistered) },
    clock: guardClock(given),
    sharing: isRegistered ? sharing : undefined,
    times,
    given: own,
  };
}

/**
 * Writes the arguments of a call that creates a generator: the options that all formats share, and the options that are
 * specific to the generator's format. If the clock does not advance during a request, the generator is allowed to use the
 * tick of its first call, because it would otherwise wait forever.
 */
export function putOptions(m: Machine, shared: SharedValues, own: readonly number[] = []): void {
  const { windowStart, windowEnd, onExhausted, maxWait } = shared;
  const beginning = m.standsStill ? 2 * shared.beginning : shared.beginning;
  m.numbers.set([windowStart, windowEnd, onExhausted, maxWait, beginning], register.value);
  m.numbers.set(own, register.own);
}

function readOnExhausted(value: unknown): number {
  if (value === undefined) return ABSENT;
  if (value === "wait") return 0;
  if (value === "error") return 1;
  const field = "onExhausted";
  if (typeof value !== "string") throw invalidType('"wait" or "error"', value, { field });
  throw new PolyflakeError(
    "out_of_range",
    `expected "wait" or "error" for \`onExhausted\`, found ${JSON.stringify(value)}`,
    { field },
  );
}
