// A sno generator under a scripted clock, step by step.
//
// The clock is called from inside the generator and may itself take steps, so each call in progress has a frame of its own.

import { sno } from "#polyflake";

import { hexOf } from "./ids.mjs";
import { outcome } from "./outcomes.mjs";

/** Answers a whole trace. */
export function trace(args) {
  const stage = new Stage(args);
  return { steps: args.steps.map((step) => stage.step(step)) };
}

/** A generator, and the calls in progress. */
class Stage {
  #args;
  #frames = [];
  #generator;

  constructor(args) {
    this.#args = args;
    this.#generator = this.#build();
  }

  #build() {
    const { config, original, partition, sequence_min, sequence_max } = this.#args;
    if (config != null) {
      const make = original ? sno.Generator.importOriginal : sno.Generator.restore;
      return make(config, this.#options());
    }
    const own = { partition, sequenceMin: sequence_min, sequenceMax: sequence_max };
    return new sno.Generator({ ...this.#options(), ...own });
  }

  /** Those that a restored generator takes too. */
  #options() {
    const { window, on_exhausted, max_wait_ms } = this.#args;
    return { clock: () => this.#read(), window: window?.map(Number), onExhausted: on_exhausted, maxWait: max_wait_ms };
  }

  /** Takes a step: its readings are the clock's until it ends. */
  step(step) {
    const frame = { readings: step.clock ?? [], inside: step.inside ?? [], read: 0, answers: [] };
    this.#frames.push(frame);
    const answer = outcome(() => this.#call(step));
    this.#frames.pop();
    return step.inside === undefined ? answer : { ...answer, inside: frame.answers };
  }

  /** The reading of now, the last one for ever, in Unix milliseconds. */
  #read() {
    const frame = this.#frames.at(-1);
    frame.read += 1;
    if (frame.read === 2) frame.answers = frame.inside.map((step) => this.step(step));
    const reading = frame.readings[Math.min(frame.read, frame.readings.length) - 1];
    if (reading === "raise") throw new Error("a clock that fails");
    return Number(reading);
  }

  #call({ op, metabyte, count, unix_ms, end_ms }) {
    switch (op) {
      case "generate":
        return count === undefined
          ? [hexOf(this.#generator.generate(metabyte))]
          : this.#generator.generateMany(count, metabyte).texts().map(hexOf);
      case "generate_at":
        return hexOf(this.#generator.generateAt(Number(unix_ms), metabyte));
      case "stats":
        return snakeCase(this.#generator.stats());
      case "extend_window":
        return this.#generator.extendWindow(Number(end_ms));
      case "close":
        return this.#generator.close();
      case "restore":
        return this.#restore();
      default:
        throw new Error(`expected a step of the protocol, found ${op}`);
    }
  }

  /** Closes the generator, and goes on with one from its snapshot, which has been JSON in between. */
  #restore() {
    const closed = this.#generator.close();
    this.#generator = sno.Generator.restore(JSON.parse(JSON.stringify(closed)), this.#options());
    return closed;
  }
}

function snakeCase(members) {
  const name = (camel) => camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [name(key), value]));
}
