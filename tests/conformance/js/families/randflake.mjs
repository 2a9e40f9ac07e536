// Randflake.

import { randflake } from "#polyflake";

import { Stage, unknownStep } from "../stage.mjs";
import { bytesOf, decimal, decodeValue } from "../values.mjs";

function codec({ secret }) {
  return new randflake.Codec(bytesOf(secret));
}

function encrypt(args) {
  const { timestamp, node, sequence } = args;
  return String(codec(args).encrypt({ timestamp: Number(timestamp), node, sequence }));
}

function inspect(args) {
  return fields(codec(args), BigInt(args.id));
}

/**
 * Generates an ID with a generator that uses the system clock. No other generator has used its node IDs, so it does not
 * need to wait for the next second.
 */
function generate(args) {
  const resumeAfter = Number(args.lease[0]);
  const generator = new randflake.Generator(grantOf(args), bytesOf(args.secret), { resumeAfter });
  const id = generator.generate();
  generator.close();
  return fields(codec(args), id);
}

/** Returns an ID's fields in the protocol's FLAKE form. */
function fields(codec, id) {
  const { timestamp, node, sequence } = codec.inspect(id);
  return { id: String(id), text: randflake.encodeText(id), timestamp: String(timestamp), node, sequence };
}

/**
 * Returns a grant. `nodes` is a node ID, or the first and last node ID of a range. `lease` contains the start and end
 * of the grant.
 */
function grantOf({ nodes, lease }) {
  return new randflake.Grant(nodes, ...lease.map(Number));
}

class Trace extends Stage {
  build() {
    const { secret, resume_after } = this.args;
    const resumeAfter = resume_after === undefined ? undefined : Number(resume_after);
    return new randflake.Generator(grantOf(this.args), bytesOf(secret), { ...this.options(), resumeAfter });
  }

  call(step) {
    switch (step.op) {
      case "generate":
        return this.#generate(step).map(String);
      case "extend_lease":
        this.generator.extendGrant(grantOf(step));
        return this.#held();
      case "stats":
        return this.#stats();
      case "close":
        return decimal(this.generator.close());
      default:
        throw unknownStep(step);
    }
  }

  #generate({ count }) {
    return count === undefined ? [this.generator.generate()] : [...this.generator.generateMany(count)];
  }

  #held() {
    const { nodes, start, end } = this.generator.grant;
    return { nodes, start: String(start), end: String(end) };
  }

  #stats() {
    const { lastSecond, len, closed } = this.generator.stats();
    return { last_second: decimal(lastSecond), len: String(len), closed };
  }
}

export const OPS = {
  encode: ({ id }) => randflake.encodeText(decodeValue(id)),
  decode: ({ text }) => String(randflake.decodeText(text)),
  decode_value: ({ text }) => String(randflake.decodeText(decodeValue(text))),
  to_unsigned: ({ id }) => String(randflake.toUnsigned(BigInt(id))),
  from_unsigned: ({ value }) => String(randflake.fromUnsigned(BigInt(value))),
  encrypt,
  inspect,
  generate,
  generator: (args) => new Trace(args).run(),
};
