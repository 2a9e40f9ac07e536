/**
 * Compares the npm package with its peers, and prints each contest's times as a line of JSON. `cargo xtask bench` runs
 * it, pinned to one processor.
 */
import { batch, type Contest, matchesFilter, peerEntry, runContest } from "./contest.js";
import * as kinds from "./kinds.js";
import * as marks from "./marks.js";
import * as ours from "./ours.js";
import * as peers from "./peers.js";
import * as publicIds from "./public.js";
import * as starts from "./starts.js";

const SIZES = [1, 16, 256, 1024, 4096, 16_384];

function singleBigint(): Contest {
  const goal = {
    name: "node: a Randflake bigint",
    ours: ours.randflakeBigint,
    against: peers.plainRandflake,
    most: 0.11,
  };
  return { name: "node: one ID", entries: [ours.randflakeBigint, ...peers.bigints()], goals: [goal] };
}

function singleString(): Contest {
  return {
    name: "node: one ID as text",
    entries: [...ours.texts(), ...peers.texts()],
    goals: [
      { name: "node: a sno text", ours: ours.snoText, against: peers.unikuText, most: 0.9 },
      { name: "node: a sno text in wasm", ours: ours.snoTextInWasm, against: peers.unikuText, most: 0.9 },
    ],
    missing: peers.missingEntries,
  };
}

function batches(): Contest {
  const { packed, texts, bigints } = ours.batches(SIZES);
  const { call } = peers.unikuText;
  const singly = peerEntry("uniku, ulid, in a loop", () => Array.from({ length: 1024 }, call));
  const loop = batch(singly, 1024);
  const batchOf1024 = texts.find(({ x }) => x === 1024)!;
  return {
    name: "node: batches",
    axis: "IDs in a call",
    entries: [...packed, ...texts, ...bigints, loop],
    goals: [{ name: "node: sno texts, a batch of 1024", ours: batchOf1024, against: loop, most: 0.15 }],
  };
}

function manyTexts(): Contest {
  const { singly, array, joined, others } = ours.manyTexts(1024);
  return {
    name: "node: 1024 texts read",
    entries: [singly, array, joined, ...others],
    goals: [
      { name: "node: sno texts of an array read at once", ours: array, against: singly, most: 0.25 },
      { name: "node: sno texts in one string read at once", ours: joined, against: singly, most: 0.15 },
    ],
  };
}

function columns(): Contest {
  const { singly, parsed, packed } = ours.columns(1024);
  return {
    name: "node: columns of a layout",
    entries: [singly, parsed, packed],
    goals: [{ name: "node: layout parse, columns", ours: parsed, against: singly, most: 0.1 }],
  };
}

const contests: (() => Contest)[] = [
  singleBigint,
  singleString,
  () => ({ name: "node: one text read", entries: [...ours.decodeEntries(), ...peers.decodeEntries()] }),
  kinds.jsonContest,
  batches,
  manyTexts,
  columns,
  publicIds.publicId,
  starts.programStart,
];

const filter = process.argv[2] ?? "";
if (filter === "marks") marks.printRows();
for (const make of filter === "marks" ? [] : contests) {
  const contest = make();
  if (matchesFilter(contest, filter)) await runContest(contest);
}
