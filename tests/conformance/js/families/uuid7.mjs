// Version 7 UUIDs.

import { uuid7 } from "#polyflake";

import { Stage, unknownStep } from "../stage.mjs";
import { bytesOf, decimal, toHex } from "../values.mjs";

const randomHex = (random) => random.toString(16).padStart(14, "0");

/** Returns an ID's fields in the protocol's UUID7 form. */
function fields(id) {
  const { unixMs, sequence, random } = uuid7.parts(id);
  if (uuid7.unixMs(id) !== unixMs) throw new Error(`${id}: the time alone is another than among all fields`);
  const worker_id = uuid7.workerId(id);
  return {
    text: id,
    unix_ms: String(unixMs),
    sequence,
    random: randomHex(random),
    worker_id,
    hex: toHex(uuid7.toBytes(id)),
  };
}

function fromParts({ unix_ms, sequence, random }) {
  return fields(uuid7.fromParts({ unixMs: Number(unix_ms), sequence, random: BigInt(random) }));
}

function timeRange({ from_ms, to_ms }) {
  const { lowest, highest } = uuid7.timeRange(Number(from_ms), Number(to_ms));
  return { lowest: { text: lowest }, highest: { text: highest } };
}

/** A trace that contains only those parts of IDs that do not depend on random bytes. */
class Trace extends Stage {
  #last = {};

  build() {
    const { worker_id, resume_after, follow_rollbacks } = this.args;
    return new uuid7.Generator({
      ...this.options(),
      workerId: worker_id,
      resumeAfter: resume_after === undefined ? undefined : Number(resume_after),
      followRollbacks: follow_rollbacks,
    });
  }

  call(step) {
    switch (step.op) {
      case "generate":
        return this.#generate(step).map((id) => this.#shown(id));
      case "extend_window":
        return this.generator.extendWindow(Number(step.end_ms));
      case "stats":
        return this.#stats();
      case "close":
        return decimal(this.generator.close());
      default:
        throw unknownStep(step);
    }
  }

  #generate({ count }) {
    return count === undefined ? [this.generator.generate()] : this.generator.generateMany(count).texts();
  }

  /** Describes an ID. The sequence is relative to the first ID of the same millisecond. */
  #shown(id) {
    const { unixMs, sequence } = uuid7.parts(id);
    if (this.#last.unixMs !== unixMs) this.#last = { unixMs, sequence };
    return {
      unix_ms: String(unixMs),
      sequence: (sequence - this.#last.sequence) & 0x3ffff,
      worker_id: this.args.worker_id === undefined ? null : uuid7.workerId(id),
    };
  }

  #stats() {
    const { workerId, lastMs, rollbacks, closed } = this.generator.stats();
    return { worker_id: workerId ?? null, last_ms: decimal(lastMs), rollbacks, closed };
  }
}

export const OPS = {
  parse: ({ text }) => fields(uuid7.parse(text)),
  from_parts: fromParts,
  from_bytes: ({ hex }) => fields(uuid7.fromBytes(bytesOf(hex))),
  time_range: timeRange,
  generate: () => fields(uuid7.generate()),
  generator: (args) => new Trace(args).run(),
};
