import { invalidType } from "./errors.js";

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
    try {
      const reading: unknown = clock();
      if (typeof reading === "number") {
        failure = undefined;
        return reading;
      }
      failure = invalidType("number of milliseconds", reading, { field: "clock" });
    } catch (thrown) {
      failure = thrown;
    }
    return NaN;
  };
  return { read, failure: () => failure };
}
