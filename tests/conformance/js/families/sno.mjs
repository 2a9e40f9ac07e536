// sno.

import * as decode from "polyflake/decode";
import { sno } from "#polyflake";

import { outcome } from "../outcomes.mjs";
import { Stage, unknownStep } from "../stage.mjs";
import { bytesOf, toHex } from "../values.mjs";

function parse({ text }) {
  return fields(text);
}

function fromBytes({ hex }) {
  return fields(sno.fromBytes(bytesOf(hex)));
}

function fromParts({ tick, tick_tock, ...rest }) {
  return fields(sno.fromParts({ tick: Number(tick), tickTock: tick_tock === 1, ...rest }));
}

/** Returns a string's metabyte. Throws an error if the results of `polyflake` and `polyflake/decode` differ. */
function metabyte({ text }) {
  const ways = [() => sno.metabyte(text), () => decode.metabyte(text)];
  const [one, other] = ways.map((way) => JSON.stringify(outcome(way)));
  if (one !== other) throw new Error(`polyflake: ${one}, polyflake/decode: ${other}`);
  return sno.metabyte(text);
}

function withFields({ text, metabyte, partition, sequence }) {
  if (metabyte !== undefined) return fields(sno.withMetabyte(text, metabyte));
  if (partition !== undefined) return fields(sno.withPartition(text, partition));
  return fields(sno.withSequence(text, sequence));
}

function timeRange({ from_ms, to_ms }) {
  const { lowest, highest } = sno.timeRange(Number(from_ms), Number(to_ms));
  const end = (text) => ({ hex: hexFromText(text), text });
  return { lowest: end(lowest), highest: end(highest) };
}

function toUuid({ text }) {
  return sno.toUuid(text);
}

function fromUuid({ uuid }) {
  return fields(sno.fromUuid(uuid));
}

function toUuid8({ text }) {
  return sno.toUuid8(text);
}

function fromUuid8({ uuid }) {
  return fields(sno.fromUuid8(uuid));
}

/** Returns the ID at a JSON pointer (RFC 6901) in a JSON text, and its metabyte. */
function findInJson({ json, pointer }) {
  const names = pointer.split("/").slice(1);
  const step = (value, name) => value[name.replaceAll("~1", "/").replaceAll("~0", "~")];
  const id = names.reduce(step, JSON.parse(json));
  return { id, metabyte: sno.parse(id).metabyte };
}

function jsonValue({ json }, options) {
  return fields(sno.fromJsonValue(JSON.parse(json), options));
}

function toJson({ text }, options) {
  return JSON.stringify(sno.toJsonValue(text, options));
}

/** Generates an ID with the default generator. */
function generate({ metabyte }) {
  return fields(sno.generate(metabyte));
}

/** Returns an ID's fields in the protocol's FIELDS form. */
function fields(text) {
  const { tick, unixMs, tickTock, metabyte, partition, sequence } = sno.parse(text);
  return {
    hex: hexFromText(text),
    text,
    tick: String(tick),
    unix_ms: String(unixMs),
    tick_tock: Number(tickTock),
    metabyte,
    partition,
    sequence,
  };
}

function hexFromText(text) {
  return toHex(sno.toBytes(text));
}

class Trace extends Stage {
  build() {
    const { config, original, partition, sequence_min, sequence_max } = this.args;
    if (config != null) {
      const make = original ? sno.Generator.importOriginal : sno.Generator.restore;
      return make(config, this.options());
    }
    const own = { partition, sequenceMin: sequence_min, sequenceMax: sequence_max };
    return new sno.Generator({ ...this.options(), ...own });
  }

  call(step) {
    const { op, metabyte, count, unix_ms, end_ms } = step;
    switch (op) {
      case "generate":
        return count === undefined
          ? [hexFromText(this.generator.generate(metabyte))]
          : this.generator.generateMany(count, metabyte).texts().map(hexFromText);
      case "generate_at":
        return hexFromText(this.generator.generateAt(Number(unix_ms), metabyte));
      case "stats":
        return snakeCase(this.generator.stats());
      case "extend_window":
        return this.generator.extendWindow(Number(end_ms));
      case "close":
        return this.generator.close();
      case "restore":
        return this.#restore();
      default:
        throw unknownStep(step);
    }
  }

  /** Closes the generator and continues with one restored from its snapshot, after a round trip through JSON. */
  #restore() {
    const closed = this.generator.close();
    this.generator = sno.Generator.restore(JSON.parse(JSON.stringify(closed)), this.options());
    return closed;
  }
}

function snakeCase(members) {
  const name = (camel) => camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [name(key), value]));
}

export const OPS = {
  parse,
  from_bytes: fromBytes,
  from_parts: fromParts,
  metabyte,
  with: withFields,
  time_range: timeRange,
  to_uuid: toUuid,
  to_uuid8: toUuid8,
  from_uuid8: fromUuid8,
  from_uuid: fromUuid,
  json: findInJson,
  json_value: (args) => jsonValue(args),
  json_value_or_null: (args) => jsonValue(args, { nullIsZero: true }),
  to_json: (args) => toJson(args),
  to_json_or_null: (args) => toJson(args, { nullIsZero: true }),
  generate,
  generator: (args) => new Trace(args).run(),
};
