import { optionalInteger, time } from "./checks.js";
import { type GuardedClock, guarded, type Stall } from "./clock.js";
import { invalidType, PolyflakeError } from "./errors.js";
import type { AnyLease } from "./leased.js";
import type { Machine } from "./machine.js";
import { members, pair } from "./members.js";
import { optionsSlots } from "./protocol.js";
import { ABSENT, put, type ValuesOf } from "./slots.js";

/** Options of every generator. */
export interface SharedOptions {
  /**
   * A function that returns the time in Unix milliseconds; the system's clock by default. Every reading is believed: one far in
   * the future moves the generator there for good. Until the clock catches up, the generator refuses with `clock_behind`, or
   * stays in that tick if its format allows that. An error that the function throws is the `cause` of `clock_failed`.
   */
  clock?: () => number;
  /** Reaction to a tick whose IDs are used up, or to a clock that is behind: `"wait"` by default. */
  onExhausted?: "wait" | "error";
  /**
   * Longest wait of one call, in milliseconds; by default one tick, at most 10 ms. Nothing else runs on the thread meanwhile,
   * except in calls whose names end with `Async`. The main thread of a page and most edge workers cannot sleep: there only the calls
   * whose names end with `Async` wait, and the others fail.
   *
   * The first call of a generator with an explicit worker ID waits for the next tick, since an earlier generator may have made IDs in
   * this one: for at most one second by default. Where a thread cannot sleep it waits for at most 10 ms, and fails with
   * `sequence_exhausted` if the tick ends later: await `generateAsync` there.
   */
  maxWait?: number;
  /**
   * Callback for calls that have to wait, before each of their sleeps; an error that it throws ends the call and passes through.
   */
  onStall?: (stall: Stall) => void;
}

/** Options of a generator that may have a window or a lease, which decides its window. */
export type WindowOptions = SharedOptions & (OwnWindow | LeasedWindow);

interface LeasedWindow {
  /**
   * A lease of `polyflake/lease`, which gives the generator its number and the times for which it has it. Until the first grant, and
   * where the store is away for longer than the lease, calls throw `lease_unavailable`; `generateAsync` waits.
   */
  lease: AnyLease;
  window?: never;
}

interface OwnWindow {
  lease?: never;
  /** The half-open time span in which IDs may be made, as Dates or integer Unix milliseconds. */
  window?: readonly [start: Date | number, end: Date | number];
}

export const SHARED = ["clock", "onExhausted", "maxWait", "onStall"] as const;
export const WINDOW = ["window", "lease", ...SHARED] as const;

/** Checked options: those that all families share, as numbers, and those that stay on this side. */
export interface SharedSettings<Name extends string> {
  readonly shared: ValuesOf<typeof optionsSlots>;
  readonly clock: GuardedClock | undefined;
  /** The bounds of the window, as they were given. */
  readonly times: readonly unknown[];
  /** All options as they were given. */
  readonly given: Partial<Record<Name, unknown>>;
}

/** Reads the options of a generator, each once; refuses any that are not in `names`. */
export function sharedSettings<Name extends string>(options: unknown, names: readonly Name[]): SharedSettings<Name> {
  const own = members(options, "options", names);
  const given: Partial<Record<(typeof WINDOW)[number], unknown>> = own;
  const times = given.window === undefined ? [] : pair(given.window, "window", "times");
  const [windowStart = ABSENT, windowEnd = ABSENT] = times.map((each) => time(each, "window"));
  const onExhausted = onExhaustedOf(given.onExhausted);
  // A caller's clock may be set by hand or replay a recording, and a lease begins after the one before it.
  const skipsFirstTick = Number(given.clock === undefined && given.lease === undefined);
  return {
    shared: { windowStart, windowEnd, onExhausted, maxWait: optionalInteger(given.maxWait, "maxWait"), skipsFirstTick },
    clock: guarded(given.clock, given.onStall),
    times,
    given: own,
  };
}

/** Writes the options that all families share. A clock that stands still would keep a generator in its first tick. */
export function putShared(m: Machine, shared: ValuesOf<typeof optionsSlots>): void {
  put(m.numbers, optionsSlots, { ...shared, skipsFirstTick: m.standsStill ? 0 : shared.skipsFirstTick });
}

function onExhaustedOf(value: unknown): number {
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
