/**
 * The table that default partitions are leased from: one for all copies of the package in a realm (ESM and CJS, native and wasm), and
 * for all threads of a process where a runtime lets them share memory.
 *
 * The first copy that needs one leaves its table under a registered symbol. How partitions are taken, renewed and given back is the
 * core's alone; this side only keeps the cells.
 */
import { within } from "./checks.js";
import { randomBytes } from "./entropy.js";
import type { Call, Machine } from "./machine.js";
import { needStack } from "./stack.js";

/** How many partitions there are. */
const COUNT = 65_536;

/** For each partition the tick up to which it is taken, -1 for ever. */
export interface Table {
  /** The partition to look at next: another one at each call, until all have come. */
  next(): number;
  until(partition: number): number;
  /** Puts one tick in the place of another; false where that was not there. */
  swap(partition: number, old: number, fresh: number): boolean;
  /** The scratch area of the addon whose table it is. */
  readonly area?: ArrayBuffer;
}

const KEY = Symbol.for("polyflake.partitions");

/**
 * Readies a machine for default partitions: false where it leases them from a table of its own, which it shares with the others; true
 * where it is lent one.
 */
export function lendTo(machine: Machine): boolean {
  if (machine.lent === undefined) {
    const table = tableOf(machine);
    const isOwn = table.area !== undefined && table.area === machine.numbers.buffer;
    machine.lent = isOwn ? false : new LentTable(table);
    if (machine.lent) machine.lend(machine.lent);
  }
  return machine.lent !== false;
}

/** The realm's table; the machine's, should it be the first. */
function tableOf(machine: Machine): Table {
  const realm = globalThis as { [KEY]?: Table };
  const isTable = (value: Partial<Table> | null | undefined) =>
    typeof value?.next === "function" && typeof value.until === "function" && typeof value.swap === "function";
  if (!isTable(realm[KEY])) realm[KEY] = addonTable(machine) ?? sharedTable() ?? new RealmTable();
  return realm[KEY]!;
}

/** A table for a machine: its functions throw nothing. */
export class LentTable {
  #thrown: { value: unknown } | undefined;
  readonly random: () => number;
  readonly next: () => number;
  readonly until: (partition: number) => number;
  readonly swap: (partition: number, old: number, fresh: number) => number;

  constructor(table: Table) {
    // Asked first, when a partition is drawn, which is the only time that a call in steady use asks for memory.
    this.random = () => this.#guarded(() => (needStack(), random16()));
    this.next = () => this.#guarded(() => within(table.next(), "partition", COUNT - 1));
    this.until = (partition) => this.#guarded(() => table.until(partition));
    this.swap = (partition, old, fresh) => this.#guarded(() => Number(table.swap(partition, old, fresh) === true));
  }

  #guarded(ask: () => number): number {
    try {
      return ask();
    } catch (value) {
      this.#thrown = { value };
      return NaN;
    }
  }

  /**
   * Throws what a function of the table threw last.
   *
   * @throws that, once.
   */
  rethrow(): void {
    const thrown = this.#thrown;
    this.#thrown = undefined;
    if (thrown) throw thrown.value;
  }
}

function random16(): number {
  const [high, low] = randomBytes(2);
  return (high! << 8) | low!;
}

/** The partition that comes after `count` others: in each aligned group of a power of two, those of the group in another order. */
const place = (base: number, count: number): number => (base ^ count) % COUNT;

/** A table of one realm: memory for those partitions alone that were looked at. */
class RealmTable implements Table {
  #base: number | undefined;
  #count = 0;
  readonly #groups = new Map<number, Float64Array>();

  next(): number {
    this.#base ??= random16();
    return place(this.#base, this.#count++ % COUNT);
  }

  until(partition: number): number {
    return this.#group(partition)[partition & 255]!;
  }

  swap(partition: number, old: number, fresh: number): boolean {
    const group = this.#group(partition);
    const isThere = group[partition & 255] === old;
    if (isThere) group[partition & 255] = fresh;
    return isThere;
  }

  #group(partition: number): Float64Array {
    const there = this.#groups.get(partition >> 8);
    if (there) return there;
    const fresh = new Float64Array(256);
    this.#groups.set(partition >> 8, fresh);
    return fresh;
  }
}

/** What the threads of a process find it by; another arrangement of the cells would have another number. */
const NAME = "polyflake.partitions.1";

/** A cell for each partition, and before them one of the base (set once bit 48 is) and the count. */
const BYTES = 8 * (1 + COUNT);

interface Threads {
  getEnvironmentData(key: string): SharedArrayBuffer | undefined;
  setEnvironmentData(key: string, value: SharedArrayBuffer): void;
}

interface Host {
  process?: { getBuiltinModule?: (name: string) => Threads | undefined };
}

/** The table of the process's threads, which those that begin later get too; undefined where threads share nothing. */
function sharedTable(): Table | undefined {
  try {
    const threads = (globalThis as Host).process!.getBuiltinModule!("node:worker_threads")!;
    const there = threads.getEnvironmentData(NAME);
    if (there?.byteLength === BYTES) return new SharedTable(there);
    const mine = new SharedArrayBuffer(BYTES);
    threads.setEnvironmentData(NAME, mine);
    return new SharedTable(mine);
  } catch {
    return undefined;
  }
}

class SharedTable implements Table {
  readonly #cells: BigInt64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new BigInt64Array(memory);
  }

  next(): number {
    const head = this.#cells;
    if (Atomics.load(head, 0) === 0n) {
      Atomics.compareExchange(head, 0, 0n, (1n << 48n) | (BigInt(random16()) << 32n));
    }
    const drawn = Atomics.add(head, 0, 1n);
    return place(Number((drawn >> 32n) & 0xffffn), Number(drawn & 0xffffn));
  }

  until(partition: number): number {
    return Number(Atomics.load(this.#cells, 1 + partition));
  }

  swap(partition: number, old: number, fresh: number): boolean {
    const expected = BigInt(old);
    return Atomics.compareExchange(this.#cells, 1 + partition, expected, BigInt(fresh)) === expected;
  }
}

/** The addon's own table, which is one for all threads of the process, for other copies to lease from. */
function addonTable(machine: Machine): Table | undefined {
  const { partitionsNext, partitionsUntil, partitionsSwap } = machine.calls;
  if (!partitionsNext || !partitionsUntil || !partitionsSwap) return undefined;
  const { numbers } = machine;
  const answer = (call: Call): number => (machine.check(call()), numbers[0]!);
  return {
    area: numbers.buffer as ArrayBuffer,
    next: () => answer(partitionsNext),
    until: (partition) => ((numbers[0] = partition), answer(partitionsUntil)),
    swap: (partition, old, fresh) => (numbers.set([partition, old, fresh]), answer(partitionsSwap) === 1),
  };
}
