/**
 * Runs a contest: calls timed in turn, and goals for the ratios of their times.
 *
 * The same method as in Rust: rounds of about half a millisecond, one of each entry after the other, and the median of the ratios
 * within a round. Since every entry rests while the others run, the limit of a generator (65,536 sno IDs in 4 ms) is not reached if
 * one ID takes 30 ns or more.
 */

/** Number of rounds in each repetition, set by `cargo xtask bench`. */
const ROUNDS = Number(process.env.POLYFLAKE_BENCH_ROUNDS);
const ROUND_NANOS = 500_000;
/** Most times that the rounds are repeated, while they leave a goal undecided. */
const MOST_TIMES = 8;
/** Fewest rounds that can decide a goal; fewer are only a trial run. */
const FEWEST_ROUNDS = 20;
/** Most attempts at a round that the system interrupts. */
const TRIES = 5;
/** Time that each entry runs before the first round, so that it is fully compiled. */
const WARM_UP_NANOS = 100_000_000;

/** Makes `count` calls, and returns the nanoseconds that they took; a promise if another process makes them. */
type Work = (count: number) => number | Promise<number>;

export interface Entry {
  name: string;
  ours: boolean;
  /** Number of items that one call makes. */
  items: number;
  /** Position on the contest's axis. */
  x: number | null;
  work: Work;
  call: () => unknown;
}

/** The most time that an entry may take, as a multiple of another entry's time. */
export interface Goal {
  name: string;
  ours: Entry;
  against: Entry;
  most: number;
}

export interface Missing {
  name: string;
  why: string;
}

export interface Contest {
  name: string;
  axis?: string;
  entries: Entry[];
  goals?: Goal[];
  missing?: Missing[];
}

/**
 * A loop around a call. It is compiled anew for each entry, so that one entry's call does not slow down another's: the engine
 * specialises a call site for the functions that it has seen there. The results are used, so that no call is optimised away.
 */
function loop(call: () => unknown): Work {
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
  return { name, ours, items: 1, x: null, work: loop(call), call };
}

export function ours(name: string, call: () => unknown): Entry {
  return entry(name, call, true);
}

export function peer(name: string, call: () => unknown): Entry {
  return entry(name, call, false);
}

/** An entry that makes `size` items in a call, with that size as its position on the axis. */
export function batch(entry: Entry, size: number): Entry {
  return { ...entry, items: size, x: size };
}

export function isMeantBy(contest: Contest, text: string): boolean {
  return [contest, ...(contest.goals ?? [])].some(({ name }) => name.includes(text));
}

/** Runs a contest, and returns its results, ready for JSON. */
export async function hold(contest: Contest): Promise<unknown> {
  const { entries, goals = [], missing = [] } = contest;
  const counts: number[] = [];
  for (const { work } of entries) counts.push(await calibrate(work));
  const rounds = new Map<Entry, number[]>(entries.map((entry) => [entry, []]));
  for (let time = 0; time < MOST_TIMES; time++) {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, entry] of entries.entries()) {
        const count = counts[index]!;
        rounds.get(entry)!.push((await undisturbed(entry.work, count)) / count / entry.items);
      }
    }
    if (!goals.some((goal) => isOpen(goal, rounds))) break;
  }
  return {
    contest: contest.name,
    axis: contest.axis ?? null,
    entries: entries.map((entry) => tell(entry, rounds.get(entry)!)),
    goals: goals.map((goal) => judge(goal, rounds)),
    missing,
  };
}

/** The nanoseconds of a round during which no other process used this one's processor. */
async function undisturbed(work: Work, count: number): Promise<number> {
  let nanos = 0;
  for (let k = 0; k < TRIES; k++) {
    const before = interruptions();
    nanos = await work(count);
    if (interruptions() === before) break;
  }
  return nanos;
}

function interruptions(): number {
  return process.resourceUsage().involuntaryContextSwitches;
}

/** Number of repetitions that fill a round, once the call is warm. */
async function calibrate(work: Work): Promise<number> {
  let count = 1;
  let nanos = await work(count);
  for (let spent = nanos; spent < WARM_UP_NANOS; spent += nanos) {
    if (nanos < ROUND_NANOS) count *= 2;
    nanos = await work(count);
  }
  return Math.max(1, Math.floor((count * ROUND_NANOS) / nanos));
}

function spread(values: number[]): [low: number, median: number, high: number] {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]!;
  return [at(0.25), at(0.5), at(0.75)];
}

function tell({ name, ours, x }: Entry, rounds: number[]): unknown {
  const [low, ns, high] = spread(rounds);
  return { name, ours, x, ns, quartiles_ns: [low, high] };
}

function ratios({ ours, against }: Goal, rounds: Map<Entry, number[]>): number[] {
  return rounds.get(ours)!.map((nanos, round) => nanos / rounds.get(against)![round]!);
}

/**
 * Returns whether the rounds leave a goal undecided: its limit is within 5 % of the median ratio, and in the interval that holds
 * the true median in 95 of 100 runs.
 */
function isOpen(goal: Goal, rounds: Map<Entry, number[]>): boolean {
  const sorted = ratios(goal, rounds).toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const width = Math.floor(Math.sqrt(sorted.length));
  const [low, high] = [sorted[Math.max(0, middle - width)]!, sorted[Math.min(sorted.length - 1, middle + width)]!];
  const isNear = Math.abs(sorted[middle]! / goal.most - 1) < 0.05;
  return sorted.length >= FEWEST_ROUNDS && isNear && low <= goal.most && goal.most <= high;
}

function judge(goal: Goal, rounds: Map<Entry, number[]>): unknown {
  const { name, ours, against, most } = goal;
  const [mine, theirs] = [rounds.get(ours)!, rounds.get(against)!];
  const [low, ratio, high] = spread(ratios(goal, rounds));
  return {
    name,
    ours_ns: spread(mine)[1],
    against: against.name,
    against_ns: spread(theirs)[1],
    ratio,
    ratio_quartiles: [low, high],
    goal: most,
    met: ratio <= most,
  };
}
