/**
 * Shares the table from which random partitions are assigned. All copies of the package in a realm (bundled or not, native and
 * wasm) use one table, and so do all threads of a process if the runtime lets them share memory.
 *
 * The first copy that needs a table publishes its table under a registered symbol. Only the core decides how partitions are
 * reserved, renewed and released. The JavaScript side only stores the cells.
 */
import { checkAtMost } from "./checks.js";
import { BackendCallbacks } from "./lent.js";
import type { Call, Machine } from "./machine.js";
import { register } from "./protocol.js";
import { pickNext, random16, sharedMemory } from "./restores.js";
import { ensureStack } from "./stack.js";

/** The number of partitions. */
const PARTITION_COUNT = 65_536;

/** A table with an entry for each partition, in which the core records the holder and the expiry. */
export interface Table {
  /** Returns the next partition to check. Each call returns a different partition, until all partitions have been returned. */
  next(): number;
  entry(partition: number): number;
  /** Replaces a partition's entry `old` with `fresh`. If the entry is not `old`, returns false and does not replace it. */
  swap(partition: number, old: number, fresh: number): boolean;
  /** The scratch area of the addon that owns the table. */
  readonly area?: ArrayBuffer;
}

const TABLE_KEY = Symbol.for("polyflake.partitions");

/**
 * Prepares a backend to assign random partitions from the realm's table. Returns `false` if the table belongs to this backend,
 * or `true` if the backend has to call the table's functions.
 */
export function lendPartitionTable(machine: Machine): boolean {
  if (machine.lent === undefined) {
    const table = sharedTable(machine);
    const isOwn = table.area !== undefined && table.area === machine.bytes.buffer;
    const lent = isOwn ? false : new TableCallbacks(table);
    machine.lent = lent;
    if (lent) machine.lend(lent);
  }
  return machine.lent !== false;
}

/** Returns the realm's table, which the first backend provides. */
function sharedTable(machine: Machine): Table {
  const realm = globalThis as { [TABLE_KEY]?: Table };
  const isTable = (value: Partial<Table> | null | undefined) =>
    typeof value?.next === "function" && typeof value.entry === "function" && typeof value.swap === "function";
  if (!isTable(realm[TABLE_KEY])) realm[TABLE_KEY] = addonTable(machine) ?? new CellTable();
  return realm[TABLE_KEY]!;
}

/** A partition table that a backend uses but does not own. */
export class TableCallbacks extends BackendCallbacks {
  readonly random: () => number;
  readonly next: () => number;
  readonly entry: (partition: number) => number;
  readonly swap: (partition: number, old: number, fresh: number) => number;

  constructor(table: Table) {
    super();
    // Each assignment of a partition starts by calling this function. Once a program is warmed up, only these
    // assignments allocate memory.
    this.random = () => this.guardCall(() => (ensureStack(), random16()));
    this.next = () => this.guardCall(() => checkAtMost(table.next(), "partition", PARTITION_COUNT - 1));
    this.entry = (partition) => this.guardCall(() => table.entry(partition));
    this.swap = (partition, old, fresh) => this.guardCall(() => Number(table.swap(partition, old, fresh) === true));
  }
}

/**
 * Returns the partition that is picked after `count` other partitions. Within each aligned group whose size is a power of
 * two, all partitions are picked before the next group begins, in an order that `base` determines.
 */
const cellIndex = (base: number, count: number): number => (base ^ count) % PARTITION_COUNT;

/**
 * The name under which the threads of a process find the shared entries. The number in the name must change whenever the
 * layout or the meaning of the entries changes.
 */
const SHARED_MEMORY_NAME = "polyflake.partitions.3";

/** A table in memory, for the threads of a process or for one realm. */
class CellTable implements Table {
  readonly #entries = new BigInt64Array(sharedMemory(SHARED_MEMORY_NAME, 8 * PARTITION_COUNT));

  next(): number {
    return cellIndex(...pickNext());
  }

  entry(partition: number): number {
    return Number(Atomics.load(this.#entries, partition));
  }

  swap(partition: number, old: number, fresh: number): boolean {
    const expected = BigInt(old);
    return Atomics.compareExchange(this.#entries, partition, expected, BigInt(fresh)) === expected;
  }
}

/**
 * Returns the addon's partition table. All threads of the process share this table, and other copies of the package also
 * assign partitions from it.
 */
function addonTable(machine: Machine): Table | undefined {
  const { partitionsNext, partitionsEntry, partitionsSwap } = machine.calls;
  if (!partitionsNext || !partitionsEntry || !partitionsSwap) return undefined;
  const { numbers, bytes } = machine;
  const answer = (call: Call): number => (machine.check(call()), numbers[register.answer]!);
  const callTable = (call: Call, ...values: number[]): number => {
    numbers.set(values, register.value);
    return answer(call);
  };
  return {
    area: bytes.buffer as ArrayBuffer,
    next: () => answer(partitionsNext),
    entry: (partition) => callTable(partitionsEntry, partition),
    swap: (partition, old, fresh) => callTable(partitionsSwap, partition, old, fresh) === 1,
  };
}
