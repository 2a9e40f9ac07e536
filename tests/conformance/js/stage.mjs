// Runs traces of a generator with a scripted clock. A trace is a list of steps, and each format defines its own steps.
//
// The generator calls the clock, which may itself run steps. Therefore, each call in progress has its own frame.

import { outcome } from "./outcomes.mjs";

// Clock readings that are not valid times.
const INVALID_READINGS = { none: undefined, boolean: true, float: NaN };

/** A generator and the calls that are in progress. Each format defines `build` and `call`. */
export class Stage {
  #frames = [];

  constructor(args) {
    this.args = args;
    this.generator = this.build();
  }

  /** Runs all steps of the trace, and returns their answers. */
  run() {
    return { steps: this.args.steps.map((step) => this.step(step)) };
  }

  /** Returns the options that the generators of all formats accept. */
  options() {
    const { window, on_exhausted, max_wait_ms } = this.args;
    const options = { testClock: () => this.#read(), onExhausted: on_exhausted, maxWait: max_wait_ms };
    return window ? { ...options, window: window.map(Number) } : options;
  }

  /** Runs a step. While the step runs, the clock returns the step's readings. */
  step(step) {
    const frame = { readings: step.clock ?? [], inside: step.inside ?? [], read: 0, answers: [] };
    this.#frames.push(frame);
    const answer = outcome(() => this.call(step));
    this.#frames.pop();
    return step.inside === undefined ? answer : { ...answer, inside: frame.answers };
  }

  /**
   * Returns the current clock reading, in Unix milliseconds. Once the readings run out, the last one is repeated
   * forever.
   */
  #read() {
    const frame = this.#frames.at(-1);
    frame.read += 1;
    if (frame.read === 2) frame.answers = frame.inside.map((step) => this.step(step));
    const reading = frame.readings[Math.min(frame.read, frame.readings.length) - 1];
    if (reading === "raise") throw new Error("a clock that fails");
    return Object.hasOwn(INVALID_READINGS, reading) ? INVALID_READINGS[reading] : Number(reading);
  }
}

export function unknownStep(step) {
  return new Error(`expected a step of the protocol, found ${step.op}`);
}
