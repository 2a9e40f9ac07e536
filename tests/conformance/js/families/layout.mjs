// Custom layouts.

import { layout } from "#polyflake";

import { outcome } from "../outcomes.mjs";
import { Stage, unknownStep } from "../stage.mjs";
import { bytesOf, decimal, decodeValue, decodeValues, encodeValue, encodeValues, figures, toHex } from "../values.mjs";

const { Generator, Layout } = layout;

/**
 * Returns the layout of a preset or of a description. Checks that a description passed as an object and the same
 * description passed as a JSON string produce equal layouts.
 */
function layoutOf({ layout: description }) {
  const { preset, fields } = description;
  if (preset !== undefined) return Layout.preset(preset, decodeValues(fields));
  const asObject = outcome(() => new Layout(description).toJson());
  const asText = outcome(() => Layout.fromJson(JSON.stringify(description)).toJson());
  if (JSON.stringify(asObject) !== JSON.stringify(asText)) {
    throw new Error(`as an object: ${JSON.stringify(asObject)}, as a text: ${JSON.stringify(asText)}`);
  }
  return new Layout(description);
}

function pack(args) {
  const { timestamp_ms, sequence, bindables, constants } = args;
  const values = { bindables: decodeValues(bindables), constants: decodeValues(constants) };
  if (timestamp_ms !== undefined) values.timestamp = decodeValue(timestamp_ms);
  if (sequence !== undefined) values.sequence = decodeValue(sequence);
  return idToJson(layoutOf(args).pack(values));
}

function parse(args) {
  const its = layoutOf(args);
  const { id, id_value } = args;
  return fields(its.parse(id_value === undefined ? readId(its, id) : decodeValue(id_value)));
}

/** Reads an ID, which is a decimal string for an integer layout and a hexadecimal string otherwise. */
function readId(its, id) {
  return its.isInteger ? BigInt(id) : bytesOf(id);
}

function idToJson(id) {
  return typeof id === "bigint" ? String(id) : toHex(id);
}

function timeRange(args) {
  const { from_ms, to_ms, bindables } = args;
  const { lowest, highest } = layoutOf(args).timeRange(Number(from_ms), Number(to_ms), decodeValues(bindables));
  return { lowest: idToJson(lowest), highest: idToJson(highest) };
}

/** Generates an ID with a generator that uses the system clock, and returns the ID's fields. */
function generate(args) {
  const generator = new Generator(layoutOf(args), { bindables: decodeValues(args.bindables) });
  const id = generator.generate();
  return { id: idToJson(id), parsed: fields(generator.layout.parse(id)) };
}

/** Returns a parsed ID in the protocol's PARSED form, which contains only the fields that the layout has. */
function fields({ unixMs, sequence, bindables, constants }) {
  const found = { bindables: encodeValues(bindables), constants: encodeValues(constants) };
  if (unixMs !== undefined) found.timestamp_ms = String(unixMs);
  if (sequence !== undefined) found.sequence = encodeValue(sequence);
  const hasContent = ([, value]) => typeof value === "string" || Object.keys(value).length > 0;
  return Object.fromEntries(Object.entries(found).filter(hasContent));
}

class Trace extends Stage {
  build() {
    return new Generator(layoutOf(this.args), this.allOptions());
  }

  allOptions() {
    const { bindables, range, sequence_only } = this.args;
    const own = { bindables: decodeValues(bindables), sequenceOnly: sequence_only };
    if (range) own.range = [range[0], BigInt(range[1]), BigInt(range[2])];
    return { ...this.options(), ...own };
  }

  call(step) {
    switch (step.op) {
      case "generate":
        return this.#generate(step).map(idToJson);
      case "extend_window":
        return this.generator.extendWindow(Number(step.end_ms));
      case "stats":
        return this.#stats();
      case "close":
        return snapshotMembers(this.generator.close());
      case "restore":
        return this.#restore();
      default:
        throw unknownStep(step);
    }
  }

  #generate({ count, bindables }) {
    const given = bindables && decodeValues(bindables);
    return count === undefined ? [this.generator.generate(given)] : [...this.generator.generateMany(count, given)];
  }

  #stats() {
    const { lastMs, len, closed } = this.generator.stats();
    return { last_ms: decimal(lastMs), len: String(len), closed };
  }

  /** Closes the generator and continues with one restored from its snapshot, after a round trip through JSON. */
  #restore() {
    const closed = this.generator.close();
    const again = JSON.parse(JSON.stringify(closed));
    this.generator = Generator.restore(this.generator.layout, again, this.allOptions());
    return snapshotMembers(closed);
  }
}

function snapshotMembers({ tick, next_sequence }) {
  return { tick: String(tick), next_sequence: String(next_sequence) };
}

export const OPS = {
  from_json: ({ text }) => Layout.fromJson(text).toJson(),
  json: (args) => layoutOf(args).toJson(),
  describe: (args) => figures(layoutOf(args).describe()),
  pack,
  parse,
  time_range: timeRange,
  generate,
  generator: (args) => new Trace(args).run(),
};
