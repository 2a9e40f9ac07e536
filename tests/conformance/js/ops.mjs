// The answers of every JavaScript runtime to the conformance suite's requests (tests/README.md).

import { sno } from "#polyflake";
import * as decode from "polyflake/decode";

import { outcome } from "./outcomes.mjs";
import { trace } from "./trace.mjs";

const OPS = {
  "sno.parse": ({ text }) => fields(text),
  "sno.from_bytes": ({ hex }) => fields(sno.fromBytes(bytesOf(hex))),
  "sno.from_parts": ({ tick, tick_tock, ...rest }) =>
    fields(sno.fromParts({ tick: Number(tick), tickTock: tick_tock === 1, ...rest })),
  "sno.metabyte": ({ text }) => same(outcome(() => sno.metabyte(text)), outcome(() => decode.metabyte(text))),
  "sno.with": withFields,
  "sno.time_range": ({ from_ms, to_ms }) => timeRange(Number(from_ms), Number(to_ms)),
  "sno.to_uuid": ({ text }) => sno.toUuid(text),
  "sno.from_uuid": ({ uuid }) => fields(sno.fromUuid(uuid)),
  "sno.json": ({ json, pointer }) => inJson(JSON.parse(json), pointer),
  "sno.json_value": ({ json }) => fields(JSON.parse(json)),
  "sno.to_json": ({ text }) => (sno.parse(text), JSON.stringify(text)),
  "sno.generate": ({ metabyte }) => fields(sno.generate(metabyte)),
  "sno.generator": trace,
};

/** The answer to a request. */
export function answer({ op, args }) {
  if (!Object.hasOwn(OPS, op)) return { error: { code: "unknown_op" } };
  const answered = outcome(() => OPS[op](args));
  return answered.ok instanceof Outcome ? answered.ok.value : answered;
}

/** An answer as a whole, where an operation has it already. */
class Outcome {
  constructor(value) {
    this.value = value;
  }
}

/** What two ways to the same must both answer. */
function same(one, other) {
  const [left, right] = [one, other].map((answer) => JSON.stringify(answer));
  if (left !== right) throw new Error(`polyflake: ${left}, polyflake/decode: ${right}`);
  return new Outcome(one);
}

/** What the protocol calls FIELDS. */
function fields(text) {
  const { tick, unixMs, tickTock, metabyte, partition, sequence } = sno.parse(text);
  return {
    hex: hexOf(sno.toBytes(text)),
    text,
    tick: String(tick),
    unix_ms: String(unixMs),
    tick_tock: Number(tickTock),
    metabyte,
    partition,
    sequence,
  };
}

function hexOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bytesOf(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function withFields({ text, metabyte, partition, sequence }) {
  if (metabyte !== undefined) return fields(sno.withMetabyte(text, metabyte));
  if (partition !== undefined) return fields(sno.withPartition(text, partition));
  return fields(sno.withSequence(text, sequence));
}

function timeRange(from, to) {
  const { lowest, highest } = sno.timeRange(from, to);
  const end = (text) => ({ hex: hexOf(sno.toBytes(text)), text });
  return { lowest: end(lowest), highest: end(highest) };
}

/** The ID that a pointer (RFC 6901) names, and its metabyte. */
function inJson(document, pointer) {
  const names = pointer.split("/").slice(1);
  const id = names.reduce((value, name) => value[name.replaceAll("~1", "/").replaceAll("~0", "~")], document);
  return { id, metabyte: sno.parse(id).metabyte };
}
