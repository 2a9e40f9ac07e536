import { className, type ErrorCode, type ErrorDetails, invalidType, PolyflakeError } from "./errors.js";

/** A notice that a call has to wait. */
export interface Stall {
  /** Why. */
  reason: "sequence_exhausted" | "clock_behind";
  /** The clock's reading, in Unix milliseconds. */
  unixMs: number;
  /** How many calls of this generator wait now, this one included: more than one where a clock or a callback calls it. */
  stalled: number;
  /** How long this call has slept, in milliseconds, rounded up: 0 in the first notice. */
  sleptMs: number;
}

/** How many functions of callers may be in progress inside each other, each calling a generator: the machines' stacks end. */
const DEEPEST = 16;

let depth = 0;

/** A generator's functions, made harmless: they throw nothing. */
export class GuardedClock {
  readonly read: () => number;
  /** Gives 1 where the call may wait. */
  readonly stalled: ((reason: number, unixMs: number, stalled: number, sleptMs: number) => number) | undefined;
  /** Why the clock failed last. */
  #failure: unknown;
  /** Whether it threw that. */
  #threw = false;
  /** What the callback for stalls threw. */
  #thrown: { value: unknown } | undefined;

  constructor(clock: () => unknown, onStall: ((stall: Stall) => unknown) | undefined) {
    this.read = () => inside(() => this.#reading(clock()), (failure) => ((this.#failure = failure), (this.#threw = true), NaN));
    this.stalled =
      onStall &&
      ((reason, unixMs, stalled, sleptMs) =>
        inside(
          () => (onStall({ reason: reason === 0 ? "sequence_exhausted" : "clock_behind", unixMs, stalled, sleptMs }), 1),
          (value) => ((this.#thrown = { value }), 0),
        ));
  }

  #reading(reading: unknown): number {
    const isNumber = typeof reading === "number";
    this.#threw = false;
    this.#failure = isNumber ? undefined : invalidType("number of milliseconds", reading, { field: "clock" });
    return isNumber ? reading : NaN;
  }

  /**
   * Adds to an error why the clock failed, and gives the message for one that threw.
   *
   * @throws what the callback for stalls threw, in place of the error.
   */
  explain(error: ErrorDetails, code: ErrorCode): string | undefined {
    const thrown = this.#thrown;
    this.#thrown = undefined;
    if (thrown) throw thrown.value;
    if (code !== "clock_failed") return undefined;
    if (this.#failure !== undefined) error.cause = this.#failure;
    return this.#threw ? `expected a time from the clock, found ${className(this.#failure)}` : undefined;
  }
}

/** Runs a function of a caller's; `failed` makes the result of what it throws. */
function inside<T>(run: () => T, failed: (thrown: unknown) => T): T {
  if (depth === DEEPEST) {
    return failed(new PolyflakeError("clock_failed", `expected clocks at most ${DEEPEST} deep in each other`));
  }
  depth += 1;
  try {
    return run();
  } catch (thrown) {
    return failed(thrown);
  } finally {
    depth -= 1;
  }
}

/**
 * Guards a function that gives Unix milliseconds, and one that hears of stalls; undefined where there is neither.
 *
 * @throws {PolyflakeError} `invalid_type` for what is no function.
 */
export function guarded(clock: unknown, onStall: unknown): GuardedClock | undefined {
  for (const [field, given] of [["clock", clock], ["onStall", onStall]] as const) {
    if (given !== undefined && typeof given !== "function") throw invalidType("function", given, { field });
  }
  if (clock === undefined && onStall === undefined) return undefined;
  return new GuardedClock((clock ?? systemTime) as () => unknown, onStall as ((stall: Stall) => unknown) | undefined);
}

/** The `Date.now` of the import, as in bindings-wasm/src/host.js: what tests put in its place later is not the system's time. */
const systemTime = /* @__PURE__ */ ((): (() => number) => Date.now)();
