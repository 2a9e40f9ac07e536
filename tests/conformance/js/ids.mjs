// Questions about single sno IDs.

import { sno } from "#polyflake";
import * as decode from "polyflake/decode";

import { outcome } from "./outcomes.mjs";

export function parse({ text }) {
  return fields(text);
}

export function fromBytes({ hex }) {
  const pairs = hex.match(/../g) ?? [];
  return fields(sno.fromBytes(Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16))));
}

export function fromParts({ tick, tick_tock, ...rest }) {
  return fields(sno.fromParts({ tick: Number(tick), tickTock: tick_tock === 1, ...rest }));
}

/** Both ways to a metabyte must say the same. */
export function metabyte({ text }) {
  const ways = [() => sno.metabyte(text), () => decode.metabyte(text)];
  const [one, other] = ways.map((way) => JSON.stringify(outcome(way)));
  if (one !== other) throw new Error(`polyflake: ${one}, polyflake/decode: ${other}`);
  return sno.metabyte(text);
}

export function withFields({ text, metabyte, partition, sequence }) {
  if (metabyte !== undefined) return fields(sno.withMetabyte(text, metabyte));
  if (partition !== undefined) return fields(sno.withPartition(text, partition));
  return fields(sno.withSequence(text, sequence));
}

export function timeRange({ from_ms, to_ms }) {
  const { lowest, highest } = sno.timeRange(Number(from_ms), Number(to_ms));
  const end = (text) => ({ hex: hexOf(text), text });
  return { lowest: end(lowest), highest: end(highest) };
}

export function toUuid({ text }) {
  return sno.toUuid(text);
}

export function fromUuid({ uuid }) {
  return fields(sno.fromUuid(uuid));
}

/** The ID that a pointer (RFC 6901) names within a JSON text, and its metabyte. */
export function inJson({ json, pointer }) {
  const names = pointer.split("/").slice(1);
  const step = (value, name) => value[name.replaceAll("~1", "/").replaceAll("~0", "~")];
  const id = names.reduce(step, JSON.parse(json));
  return { id, metabyte: sno.parse(id).metabyte };
}

export function jsonValue({ json }) {
  return fields(JSON.parse(json));
}

export function toJson({ text }) {
  return JSON.stringify(fields(text).text);
}

/** A new ID of the process-wide generator. */
export function generate({ metabyte }) {
  return fields(sno.generate(metabyte));
}

/** What the protocol calls FIELDS. */
function fields(text) {
  const { tick, unixMs, tickTock, metabyte, partition, sequence } = sno.parse(text);
  return {
    hex: hexOf(text),
    text,
    tick: String(tick),
    unix_ms: String(unixMs),
    tick_tock: Number(tickTock),
    metabyte,
    partition,
    sequence,
  };
}

/** The bytes of a text, in hex. */
export function hexOf(text) {
  return Array.from(sno.toBytes(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
