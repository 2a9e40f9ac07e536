/**
 * A contest: calls timed in turn, and the goals that their ratios are held against.
 *
 * The same method as in Rust: rounds of about half a millisecond, one of each entry after the other, the median of the
 * ratios of the same round. Since every entry rests while the others run, a generator's cap (65,536 sno IDs in 4 ms) does
 * not bind where one ID takes 30 ns or more.
 */

/** As many as `cargo xtask bench` asks for. */
const ROUNDS = Number(process.env.POLYFLAKE_BENCH_ROUNDS);
const ROUND_NANOS = 500_000;
/** How often the rounds are taken at most, while a goal is so near that they do not tell whether it is met. */
const MOST_TIMES = 8;
/** Fewer rounds are a rehearsal, and settle nothing. */
const FEWEST_ROUNDS = 20;
/** How often a round is tried again that the system interrupted. */
const TRIES = 5;
/** How long each entry runs before anything counts, so that it is compiled as it will be. */
const WARM_UP_NANOS = 100_000_000;

/** Calls so many times, and tells the nanoseconds that it took. */
type Work = (count: number) => number;

export interface Entry {
  name: string;
  ours: boolean;
  /** How many items one call makes. */
  items: number;
  /** Where it lies on the contest's axis. */
  x: number | null;
  work: Work;
}

/** How many times as long as another an entry may take. */
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
 * A loop around a call. It is compiled anew for each, so that one entry's call does not make another's slower: the engine
 * specialises a call site for what it has seen there. What the calls return is used, so that none is left out.
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

export function ours(name: string, call: () => unknown): Entry {
  return { name, ours: true, items: 1, x: null, work: loop(call) };
}

export function peer(name: string, call: () => unknown): Entry {
  return { ...ours(name, call), ours: false };
}

/** An entry that makes many items in a call, and lies there on the axis. */
export function batch(entry: Entry, size: number): Entry {
  return { ...entry, items: size, x: size };
}

export function isMeantBy(contest: Contest, text: string): boolean {
  return [contest, ...(contest.goals ?? [])].some(({ name }) => name.includes(text));
}

/** Runs it, and tells it as what becomes JSON. */
export function hold(contest: Contest): unknown {
  const { entries, goals = [], missing = [] } = contest;
  const counts = entries.map(({ work }) => calibrate(work));
  const rounds = new Map<Entry, number[]>(entries.map((entry) => [entry, []]));
  for (let time = 0; time < MOST_TIMES; time++) {
    for (let round = 0; round < ROUNDS; round++) {
      entries.forEach((entry, index) => {
        const count = counts[index]!;
        rounds.get(entry)!.push(undisturbed(entry.work, count) / count / entry.items);
      });
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

/** The nanoseconds of a round during which no other process had this one's processor. */
function undisturbed(work: Work, count: number): number {
  let nanos = 0;
  for (let k = 0; k < TRIES; k++) {
    const before = interruptions();
    nanos = work(count);
    if (interruptions() === before) break;
  }
  return nanos;
}

function interruptions(): number {
  return process.resourceUsage().involuntaryContextSwitches;
}

/** How many repetitions fill a round, once the call is warm. */
function calibrate(work: Work): number {
  let count = 1;
  let nanos = work(count);
  for (let spent = nanos; spent < WARM_UP_NANOS; spent += nanos) {
    if (nanos < ROUND_NANOS) count *= 2;
    nanos = work(count);
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

/** Whether the line lies within 5 % of the median, and in the interval that holds the true median in 95 of 100 runs. */
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
