/** This project's entries: generators that never reach the limits of their formats. */
import { hotguid, layout, randflake, sno } from "polyflake";
import { metabyte } from "polyflake/decode";
import { sno as inWasm } from "polyflake/wasm";
import { batchEntryMaker, type Entry, ownEntry } from "./contest.js";
import { SECRET } from "./peers.js";

/** The number of partitions. With this many partitions, batches never reach the limit of a single partition. */
const PARTITIONS = 512;

/**
 * Returns a function that cycles through generators with different partitions. Each generator has already waited for its
 * first tick.
 */
function snoGenerators(): () => sno.Generator {
  const all = Array.from({ length: PARTITIONS }, (_, partition) => new sno.Generator({ partition }));
  for (const generator of all) generator.generate();
  let place = 0;
  return () => all[place++ % PARTITIONS]!;
}

/** Creates a generator whose grant covers all node IDs, because one node ID allows only 131,072 IDs per second. */
function randflakeGenerator(): randflake.Generator {
  const grant = new randflake.Grant([0, 131_071], 1_730_000_000, 2_803_741_824);
  return new randflake.Generator(grant, SECRET);
}

export const randflakeBigint: Entry = ownEntry("Randflake", randflakeGenerator().generate);

export const snoText: Entry = ownEntry("sno", new sno.Generator({ partition: 1 }).generate);

export const snoTextInWasm: Entry = ownEntry("sno, in wasm", new inWasm.Generator({ partition: 3 }).generate);

export function texts(): Entry[] {
  const withMetabyte = new sno.Generator({ partition: 2 });
  const numbers = randflakeGenerator();
  return [
    snoText,
    ownEntry("sno, with a metabyte", () => withMetabyte.generate(7)),
    snoTextInWasm,
    ownEntry("Randflake", () => numbers.generateText()),
    ownEntry("Hot Guid", new hotguid.Generator().generate),
  ];
}

export function decodeEntries(): Entry[] {
  const text = sno.generate(7);
  return [
    ownEntry("sno, all fields", () => sno.parse(text)),
    ownEntry("sno, the metabyte", () => metabyte(text)),
    ownEntry("sno, whether it is one", () => sno.isValid(text)),
  ];
}

/** Returns entries that decode many strings, either in a single call or one by one. */
export function manyTexts(size: number): { singly: Entry; array: Entry; joined: Entry; others: Entry[] } {
  const texts = new sno.Generator({ partition: 4 }).generateMany(size).texts();
  const numbers = randflakeGenerator().generateMany(size).texts();
  const guids = new hotguid.Generator().generateMany(size).texts();
  const concatenated = texts.join("");
  const of = batchEntryMaker(size);
  return {
    singly: of("sno, one by one", () => texts.map((text) => sno.toBytes(text))),
    array: of("sno, an array", () => sno.SnoArray.from(texts)),
    joined: of("sno, in one string", () => sno.SnoArray.from(concatenated)),
    others: [
      of("sno in wasm, an array", () => inWasm.SnoArray.from(texts)),
      of("Randflake, one by one", () => numbers.map((text) => randflake.decodeText(text))),
      of("Randflake, an array", () => randflake.RandflakeArray.from(numbers)),
      of("Hot Guid, one by one", () => guids.map((text) => hotguid.toBytes(text))),
      of("Hot Guid, an array", () => hotguid.HotGuidArray.from(guids)),
    ],
  };
}

/**
 * Returns entries for the layout of X (Twitter), which parse IDs one by one, parse IDs into columns, and pack columns into
 * IDs.
 */
export function columns(size: number): { singly: Entry; parsed: Entry; packed: Entry } {
  const twitter = layout.Layout.preset("twitter", { worker: 1 });
  const given = {
    timestamp: new Float64Array(size).fill(Date.now()),
    sequence: Float64Array.from({ length: size }, (_, k) => k),
    bindables: { datacenter: 1 },
  };
  const { packed } = twitter.packColumns(given);
  const of = batchEntryMaker(size);
  return {
    singly: of("parse, one by one", () => Array.from(packed, (id) => twitter.parse(id))),
    parsed: of("parse, 4 columns", () => twitter.parseColumns(packed)),
    packed: of("pack, 2 columns", () => twitter.packColumns(given)),
  };
}

/** Entries that make many IDs per call, as packed bytes, as strings, and as bigints. */
export function batches(sizes: number[]): { packed: Entry[]; texts: Entry[]; bigints: Entry[] } {
  const [next, numbers] = [snoGenerators(), randflakeGenerator()];
  return {
    packed: sizes.map((size) => batchEntryMaker(size)("sno, packed", () => next().generateMany(size))),
    texts: sizes.map((size) => batchEntryMaker(size)("sno, texts", () => next().generateMany(size).texts())),
    bigints: sizes.map((size) => batchEntryMaker(size)("Randflake, packed", () => numbers.generateMany(size))),
  };
}
