/**
 * Benchmarks the conversion of numbers to and from public IDs, and compares it with Sqids, which does not hide the numbers.
 */
import { Keyring } from "polyflake/public";
import { public as inWasm } from "polyflake/wasm";
import Sqids from "sqids";
import { batchEntryMaker, type Contest, ownEntry, peerEntry } from "./contest.js";

const SECRET = Uint8Array.from({ length: 32 }, (_, k) => k);
const BATCH_SIZE = 1024;
const MAX_EXCLUSIVE = 2 ** 48;

/** Returns a function that cycles through the items of a list. */
function roundRobin<T>(all: readonly T[]): () => T {
  let at = 0;
  return () => all[at++ % all.length]!;
}

export function publicId(): Contest {
  const numbers = Array.from({ length: BATCH_SIZE }, (_, k) => (k * 274_877_906_951) % MAX_EXCLUSIVE);
  const [orders, wasm, sqids] = [new Keyring(SECRET).of("order"), new inWasm.Keyring(SECRET).of("order"), new Sqids()];
  const [texts, theirs] = [orders.encodeMany(numbers), numbers.map((number) => sqids.encode([number]))];
  const [number, text, their] = [roundRobin(numbers), roundRobin(texts), roundRobin(theirs)];
  const encode = ownEntry("encode", () => orders.encode(number()));
  const decode = ownEntry("decode", () => orders.decode(text()));
  const encodeInWasm = ownEntry("encode, in wasm", () => wasm.encode(number()));
  const decodeInWasm = ownEntry("decode, in wasm", () => wasm.decode(text()));
  const encodeMany = batchEntryMaker(BATCH_SIZE)("encodeMany, of 1024", () => orders.encodeMany(numbers));
  const decodeMany = batchEntryMaker(BATCH_SIZE)("decodeMany, of 1024", () => orders.decodeMany(texts));
  const sqidsEncode = peerEntry("sqids, encode", () => sqids.encode([number()]));
  const sqidsDecode = peerEntry("sqids, decode", () => sqids.decode(their()));
  return {
    name: "node: a public ID",
    entries: [encode, decode, encodeInWasm, decodeInWasm, encodeMany, decodeMany, sqidsEncode, sqidsDecode],
    goals: [
      { name: "node: a public ID encoded", ours: encode, against: sqidsEncode, most: 0.05 },
      { name: "node: a public ID decoded", ours: decode, against: sqidsDecode, most: 0.15 },
      { name: "node: public IDs encoded, 1024 at once", ours: encodeMany, against: sqidsEncode, most: 0.05 },
      { name: "node: public IDs decoded, 1024 at once", ours: decodeMany, against: sqidsDecode, most: 0.1 },
    ],
  };
}
