import { invalidType, PolyflakeError } from "./errors.js";

/** How many clocks may be in progress inside each other, each calling a generator: the machines' stacks end. */
const DEEPEST = 16;

let depth = 0;

/** How many clocks of callers are running now, each inside the one before. */
export function clocksInProgress(): number {
  return depth;
}

/** A clock of the caller's that can do no harm: it gives a number, NaN where it failed, and what it failed of. */
export interface GuardedClock {
  readonly read: () => number;
  readonly failure: () => unknown;
}

/**
 * Guards a function that gives Unix milliseconds.
 *
 * @throws {PolyflakeError} `invalid_type` for what is no function.
 */
export function guarded(clock: unknown): GuardedClock | undefined {
  if (clock === undefined) return undefined;
  if (typeof clock !== "function") throw invalidType("function", clock, { field: "clock" });
  let failure: unknown;
  const read = (): number => {
    if (depth === DEEPEST) {
      failure = new PolyflakeError("clock_failed", `expected clocks at most ${DEEPEST} deep in each other`);
      return NaN;
    }
    depth += 1;
    try {
      const reading: unknown = clock();
      failure = typeof reading === "number" ? undefined : invalidType("number of milliseconds", reading, { field: "clock" });
      return typeof reading === "number" ? reading : NaN;
    } catch (thrown) {
      failure = thrown;
      return NaN;
    } finally {
      depth -= 1;
    }
  };
  return { read, failure: () => failure };
}
