/**
 * Runs a contest: it times several calls in turn, and states goals for the ratios of the measured times. `cargo xtask
 * bench` evaluates the goals.
 *
 * The method is the same as in the Rust benchmarks: the entries take turns, and each turn lasts about half a millisecond. A
 * generator is idle while the other entries run, so it does not reach its limit (65,536 sno IDs in 4 ms) if one ID takes 30
 * ns or more.
 */
import { readSync } from "node:fs";

/** Number of rounds in each repetition, set by `cargo xtask bench`. */
const ROUNDS = Number(process.env.POLYFLAKE_BENCH_ROUNDS);
const ROUND_NANOS = 500_000;
/** The maximum number of attempts at a round if the system keeps interrupting it. */
const MAX_TRIES = 5;
/** How long each entry runs before the first round, so that it is fully compiled. */
const WARM_UP_NANOS = 100_000_000;

/**
 * A function that makes `count` calls, and returns their total time in nanoseconds. If another process makes the calls, the
 * function returns a promise that resolves to this time.
 */
type Work = (count: number) => number | Promise<number>;

export interface Entry {
  name: string;
  ours: boolean;
  /** Number of items that one call generates. */
  items: number;
  /** Position on the x-axis of the contest's plot, or `null` if the plot has no x-axis. */
  x: number | null;
  work: Work;
  call: () => unknown;
}

/** A limit on an entry's time, as a multiple of another entry's time. */
export interface Goal {
  name: string;
  ours: Entry;
  against: Entry;
  most: number;
}

export interface MissingEntry {
  name: string;
  why: string;
}

export interface Contest {
  name: string;
  axis?: string;
  entries: Entry[];
  goals?: Goal[];
  missing?: MissingEntry[];
}

/**
 * Returns a function that repeats a call in a loop. The loop is compiled separately for each entry. The engine specializes
 * a call site for the functions that are called there, so entries with a shared call site would slow each other down. The
 * loop uses the results, so that no call is optimized away.
 */
function repeatCall(call: () => unknown): Work {
  const body = `return (count) => {
    let last;
    const start = process.hrtime.bigint();
    for (let k = 0; k < count; k++) last = call();
    const nanos = Number(process.hrtime.bigint() - start);
    if (last === undefined) throw new Error("a call gave nothing");
    return nanos;
  };`;
  return new Function("call", body)(call) as Work;
}

function entry(name: string, call: () => unknown, ours: boolean): Entry {
  return { name, ours, items: 1, x: null, work: repeatCall(call), call };
}

export function ownEntry(name: string, call: () => unknown): Entry {
  return entry(name, call, true);
}

export function peerEntry(name: string, call: () => unknown): Entry {
  return entry(name, call, false);
}

/** Returns an entry that generates `size` items per call. `size` is also its position on the x-axis. */
export function batch(entry: Entry, size: number): Entry {
  return { ...entry, items: size, x: size };
}

/** Returns a function that creates an entry of this project with `size` items per call. */
export function batchEntryMaker(size: number): (name: string, call: () => unknown) => Entry {
  return (name, call) => batch(ownEntry(name, call), size);
}

export function matchesFilter(contest: Contest, text: string): boolean {
  return [contest, ...(contest.goals ?? [])].some(({ name }) => name.includes(text));
}

/** Times all entries in turn, and prints the times. Repeats this for as long as `cargo xtask bench` replies `more`. */
export async function runContest(contest: Contest): Promise<void> {
  const { entries } = contest;
  const counts: number[] = [];
  for (const { work } of entries) counts.push(await calibrate(work));
  const rounds: number[][] = entries.map(() => []);
  do {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, { work, items }] of entries.entries()) {
        const count = counts[index]!;
        rounds[index]!.push((await timeWithoutInterruption(work, count)) / count / items);
      }
    }
    console.log(JSON.stringify(report(contest, rounds)));
  } while (readRequest() === "more\n");
}

/**
 * Returns the next reply that `cargo xtask bench` sends to standard input, or an empty string at the end of the input. Does
 * not use `process.stdin`, which would make the input non-blocking.
 */
function readRequest(): string {
  const line = Buffer.alloc(16);
  return line.toString("utf8", 0, readSync(0, line));
}

function report({ name, axis, entries, goals = [], missing = [] }: Contest, rounds: number[][]): unknown {
  const key = ({ name, x }: Entry) => [name, x];
  return {
    contest: name,
    axis: axis ?? null,
    entries: entries.map(({ name, ours, x }, index) => ({ name, ours, x, rounds: rounds[index] })),
    goals: goals.map(({ name, ours, against, most }) => ({ name, ours: key(ours), against: key(against), most })),
    missing,
  };
}

/**
 * Returns the duration of a round in nanoseconds. Repeats the round if the system interrupts it, with at most `MAX_TRIES`
 * attempts in total.
 */
async function timeWithoutInterruption(work: Work, count: number): Promise<number> {
  let nanos = 0;
  for (let k = 0; k < MAX_TRIES; k++) {
    const before = countInterruptions();
    nanos = await work(count);
    if (countInterruptions() === before) break;
  }
  return nanos;
}

function countInterruptions(): number {
  return process.resourceUsage().involuntaryContextSwitches;
}

/**
 * Returns the number of repetitions that fill a round, measured after a warm-up. The first call is not counted, because a
 * generator with an explicit worker ID waits for the next tick during its first call.
 */
async function calibrate(work: Work): Promise<number> {
  let count = 1;
  await work(count);
  let nanos = await work(count);
  for (let spent = nanos; spent < WARM_UP_NANOS; spent += nanos) {
    if (nanos < ROUND_NANOS) count *= 2;
    nanos = await work(count);
  }
  return Math.max(1, Math.floor((count * ROUND_NANOS) / nanos));
}
