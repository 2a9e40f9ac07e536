import { className, type ErrorCode, type ErrorDetails, invalidType, PolyflakeError } from "./errors.js";

/** A notification that a call must wait. It is the argument of a generator's `onStall` callback. */
export interface Stall {
  /** The reason for the wait. */
  reason: "sequence_exhausted" | "clock_behind";
  /** The time according to the generator's clock, in Unix milliseconds. */
  unixMs: number;
  /**
   * The number of calls to this generator that are currently waiting, including this one. It exceeds 1 if a clock or a callback
   * itself calls the generator.
   */
  stalled: number;
  /** How long this call has slept, in milliseconds, rounded up. It is 0 in the first notification. */
  sleptMs: number;
}

/**
 * The maximum nesting depth of clocks and callbacks that call generators. It is limited because the backends' stacks are
 * finite.
 */
const MAX_DEPTH = 16;

let callDepth = 0;

/** A generator's clock and callback, wrapped so that they never throw. */
export class GuardedClock {
  readonly read: () => number;
  /** Calls the callback. Returns 1 if the call may wait, or 0 if the callback threw. */
  readonly stalled: ((reason: number, unixMs: number, stalled: number, sleptMs: number) => number) | undefined;
  /** The reason for the clock's last failure. */
  #failure: unknown;
  /** The value that the clock threw, or returned instead of a number. */
  #found = "";
  /** The value that the stall callback threw. */
  #thrown: { value: unknown } | undefined;

  constructor(clock: () => unknown, onStall: ((stall: Stall) => unknown) | undefined) {
    this.read = () =>
      runGuarded(
        () => this.#reading(clock()),
        (failure) => ((this.#failure = failure), (this.#found = className(failure)), NaN),
      );
    this.stalled =
      onStall &&
      ((reason, unixMs, stalled, sleptMs) =>
        runGuarded(
          () => (
            onStall({ reason: reason === 0 ? "sequence_exhausted" : "clock_behind", unixMs, stalled, sleptMs }), 1
          ),
          (value) => ((this.#thrown = { value }), 0),
        ));
  }

  #reading(reading: unknown): number {
    this.#found = typeof reading === "number" ? "" : className(reading);
    this.#failure = this.#found ? invalidType("number of milliseconds", reading, { field: "clock" }) : undefined;
    return this.#found ? NaN : (reading as number);
  }

  /**
   * Adds details about the clock to a call's error. If the clock failed, sets the error's `cause`. If the clock threw or
   * did not return a number, returns a message that says so. Otherwise, returns undefined, and the caller keeps the error's
   * original message.
   *
   * @throws the value that the stall callback threw.
   */
  explain(error: ErrorDetails, code: ErrorCode): string | undefined {
    const thrown = this.#thrown;
    this.#thrown = undefined;
    if (thrown) throw thrown.value;
    if (code !== "clock_failed") return undefined;
    if (this.#failure !== undefined) error.cause = this.#failure;
    return this.#found ? `expected a time from the clock, found ${this.#found}` : undefined;
  }
}

/**
 * Calls one of the caller's functions and returns its result. If the function throws, or if too many calls are nested,
 * passes the error to `failed` and returns the result of `failed`.
 */
function runGuarded<T>(run: () => T, failed: (thrown: unknown) => T): T {
  if (callDepth === MAX_DEPTH) {
    return failed(
      new PolyflakeError("clock_failed", `expected at most ${MAX_DEPTH} clocks nested in each other, found more`),
    );
  }
  callDepth += 1;
  try {
    return run();
  } catch (thrown) {
    return failed(thrown);
  } finally {
    callDepth -= 1;
  }
}

/**
 * Wraps a clock and a stall callback. The clock must return Unix milliseconds. Returns undefined if both are missing.
 *
 * @throws {PolyflakeError} `invalid_type` if an option is not a function; `out_of_range` if there are two clocks.
 */
export function guardClock(given: {
  clock?: unknown;
  testClock?: unknown;
  onStall?: unknown;
}): GuardedClock | undefined {
  for (const field of ["clock", "testClock", "onStall"] as const) {
    const value = given[field];
    if (value !== undefined && typeof value !== "function") throw invalidType("function", value, { field });
  }
  const { clock, testClock, onStall } = given;
  if (clock !== undefined && testClock !== undefined) {
    const field = "testClock";
    throw new PolyflakeError("out_of_range", "expected either `clock` or `testClock`, found both", { field });
  }
  const read = testClock ?? clock;
  if (read === undefined && onStall === undefined) return undefined;
  return new GuardedClock((read ?? systemTime) as () => unknown, onStall as ((stall: Stall) => unknown) | undefined);
}

/**
 * The original `Date.now`, saved when this module is imported. The file bindings-wasm/src/host.js does the same. Tests may
 * later replace `Date.now` with a mock, which does not return the system time.
 */
const systemTime = /* @__PURE__ */ ((): (() => number) => Date.now)();
