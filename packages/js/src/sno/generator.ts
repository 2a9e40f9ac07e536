import { attached, generatorOf, inDates, integer, isObject, time, within } from "../checks.js";
import type { Expected, SnoId } from "../decode/sno.js";
import { randomBytes } from "../entropy.js";
import { Handle } from "../handle.js";
import { type AsyncOptions, fillLater, type Signal, signalOf } from "../later.js";
import { type CallTaking, type Machine, type MachineFor, MOST } from "../machine.js";
import { fillBy, fillNow } from "../packed.js";
import { lendTo } from "../partitions.js";
import {
  answerSlots,
  BATCH,
  extensionSlots,
  manySlots,
  optionsSlots,
  snoAtSlots,
  snoOneSlots,
  snoOptionsSlots,
  snoPartitionSlots,
  snoSnapshotSlots,
} from "../protocol.js";
import { nameOf, nothingOf, present } from "../show.js";
import { put } from "../slots.js";
import { type Claim, claim } from "../twins.js";
import { LENGTH, machine, SnoArray } from "./ids.js";
import {
  type GeneratorOptions,
  heldOf,
  numbersOf,
  type RestoreOptions,
  type Snapshot,
  type Stats,
  settingsOf,
  snapshotOf,
  statsOf,
} from "./options.js";

export type { GeneratorOptions, RestoreOptions, Snapshot, Stats } from "./options.js";

/** The start of a generator: 0 for a new one, 1 for a snapshot, 2 for a snapshot of the original. */
class Origin {
  constructor(
    readonly how: 0 | 1 | 2,
    readonly snapshot?: unknown,
  ) {}
}

/** All generators of this copy of the package. */
const generators = /* @__PURE__ */ new WeakSet<Generator>();

/**
 * Makes IDs under one partition. A generator absorbs one step back of the clock; after a second one it waits until the clock has
 * caught up.
 *
 * A generator belongs to the thread that made it: it can be neither cloned nor sent to a worker.
 *
 * ```js
 * const ids = new sno.Generator({ partition: 7, metabyte: 1 });
 * sno.parse(ids.generate()).partition; // 7
 * ```
 */
export class Generator {
  static readonly name: string = "Generator";

  /**
   * One new ID, of the given metabyte (0..255) or the generator's own.
   *
   * A property of each object, not of the class: it can be taken off and called alone, and it keeps the generator from being
   * cloned.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt`, after a wait of at most `maxWait`;
   * `lease_not_started`, `lease_expired` outside the window; `time_out_of_range` outside 2010..2079; `clock_failed` with
   * the `cause`; `generator_closed`; `invalid_type`, `out_of_range` for the metabyte.
   */
  declare readonly generate: <M extends number = number>(metabyte?: Expected<M>) => SnoId<M>;

  readonly #handle: Handle;
  readonly #metabyte: number;
  /** Undefined under a default partition. */
  readonly #claim: Claim | undefined;
  /** `true` once random bytes are known to be available, or if this side never has to provide any. */
  #seeded: boolean;

  /**
   * A generator; a default partition is drawn at its first ID. If another one of this thread, still in use, has the same given or
   * restored partition, and their sequences and times overlap, the process emits a warning, once for a partition: they repeat
   * each other's IDs.
   *
   * @throws {PolyflakeError} `invalid_type`, `invalid_length`, `unknown_field` or `out_of_range` with the option as
   * `field`; `time_out_of_range` for the window.
   */
  constructor(options?: GeneratorOptions);
  constructor(options: unknown = {}, origin?: unknown) {
    const { how, snapshot } = origin instanceof Origin ? origin : new Origin(0);
    const { shared, own, clock, metabyte, leases, times } = settingsOf(options, how);
    const restored = how === 0 ? undefined : numbersOf(snapshot);
    const loaded = machine();
    const m: MachineFor<"snoBuild"> = loaded;
    // Also for a given partition, which no default generator may lease.
    const isLent = lendTo(loaded);
    const write = (): void => {
      put(m.numbers, optionsSlots, shared);
      put(m.numbers, snoOptionsSlots, { ...own, isLent: Number(isLent) });
      if (restored) put(m.numbers, snoSnapshotSlots, restored);
    };
    this.#handle = inDates(times, () => new Handle(this, loaded, write, m.calls.snoBuild, clock));
    this.#seeded = !(leases && isLent);
    if (!leases) {
      const { partition, sequences } = heldOf(restored ?? own);
      const identity = {
        key: `sno ${partition}`,
        same: () => `partition ${partition}, time and some of the sequences ${sequences[0]} to ${sequences[1]}`,
        remedy: "close it first and restore each snapshot once, or give each its own partition or sequence bounds",
      };
      this.#claim = claim(this.#handle, identity, [shared.windowStart, shared.windowEnd], sequences);
    }
    this.#metabyte = metabyte;
    const next = m.maker("snoGenerate", (m) => m.text(0) as SnoId<never>, clock);
    present(this, nothingOf, nameOf);
    this.generate = (metabyte) => {
      this.#ready(metabyte);
      return next() ?? this.#handle.refused();
    };
    generators.add(this);
  }

  /**
   * A generator that continues where a closed one stopped, with its partition and bounds. Restore a snapshot only once; the
   * process emits a warning, as for a given partition, if a generator restored before is still in use.
   *
   * @throws {PolyflakeError} as the constructor; `missing_field`; `out_of_range` for a snapshot that no generator can leave.
   */
  static restore(snapshot: Snapshot, options: RestoreOptions = {}): Generator {
    return Generator.#from(options, new Origin(1, snapshot));
  }

  /**
   * A generator that resumes from a snapshot of the Go library, with that library's quirks: bounds in the wrong order are
   * swapped, and an upper bound of 0 is read as 65535.
   *
   * @throws {PolyflakeError} as {@link Generator.restore}.
   */
  static importOriginal(snapshot: Snapshot, options: RestoreOptions = {}): Generator {
    return Generator.#from(options, new Origin(2, snapshot));
  }

  static #from(options: RestoreOptions, origin: Origin): Generator {
    return new (Generator as new (options: RestoreOptions, origin: Origin) => Generator)(options, origin);
  }

  /**
   * An ID of a given time, a Date or integer Unix milliseconds, inside the window or outside. The sequence rolls over silently, so
   * uniqueness is not promised: meant for a few IDs at a time, of things that have their own time.
   *
   * @throws {PolyflakeError} `invalid_type`, `time_out_of_range`, `generator_closed`.
   */
  generateAt<M extends number = number>(at: Date | number, metabyte?: Expected<M>): SnoId<M> {
    attached(isObject(this) && #handle in this);
    const unixMs = time(at, "at");
    const m: MachineFor<"snoGenerateAt"> = this.#ready(metabyte);
    m.numbers[snoAtSlots.time] = unixMs;
    inDates([at], () => this.#handle.check(m.calls.snoGenerateAt()));
    return m.text(0) as SnoId<M>;
  }

  /**
   * Many new IDs, at most 16,777,216 at once, ordered by time.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}, with `written`, the number of IDs made before the error;
   * `out_of_range` for the count.
   */
  generateMany(count: number, metabyte?: number): SnoArray {
    attached(isObject(this) && #handle in this);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    fillBy(many, LENGTH, BATCH, (count, made) => this.#fill(count, metabyte, made, true));
    return new SnoArray(many);
  }

  /**
   * One new ID if one can be made now. Never waits: the options for waiting do not apply.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate<M extends number = number>(metabyte?: Expected<M>): SnoId<M> {
    attached(isObject(this) && #handle in this);
    return this.#now(metabyte);
  }

  /**
   * Many new IDs without waiting, at most 16,777,216: only those that can be made now, which may be fewer than `count`, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number, metabyte?: number): SnoArray {
    attached(isObject(this) && #handle in this);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    return new SnoArray(fillNow(many, LENGTH, BATCH, (count, made) => this.#fill(count, metabyte, made, false)));
  }

  /**
   * Resolves to one new ID, of the given metabyte (0..255) or the generator's own.
   *
   * The thread is free while the call waits. `onExhausted`, `maxWait` and `onStall` hold as in {@link Generator.generate}.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}, and the reason of an aborted signal, all as rejections of the promise.
   */
  async generateAsync<M extends number = number>(
    metabyte?: Expected<M>,
    options: AsyncOptions = {},
  ): Promise<SnoId<M>> {
    attached(isObject(this) && #handle in this);
    const id = await this.#later(metabyte, signalOf(options));
    return new SnoArray(id).at(0)! as SnoId<never>;
  }

  /**
   * Resolves to many new IDs, at most 16,777,216 at once. Other work also gets its turn every 65,536 IDs; an aborted call loses
   * the IDs that it has made.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, and the reason of an aborted signal, all as rejections of the
   * promise.
   */
  async generateManyAsync(count: number, metabyte?: number, options: AsyncOptions = {}): Promise<SnoArray> {
    attached(isObject(this) && #handle in this);
    const signal = signalOf(options);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    const some = (count: number, made: number) => this.#fill(count, metabyte, made, false);
    const one = (made: number) => this.#later(metabyte, signal, made);
    await fillLater(many, LENGTH, BATCH, { some, one }, signal);
    return new SnoArray(many);
  }

  /** The partition, once the generator has one: a default one is drawn at the first ID. */
  get partition(): number | undefined {
    attached(isObject(this) && #handle in this);
    const partition = this.#handle.call("snoPartition").numbers[snoPartitionSlots.partition]!;
    return Number.isNaN(partition) ? undefined : partition;
  }

  /**
   * Moves the end of the window later, to a Date or integer Unix milliseconds. An end that is not later changes nothing, nor does
   * the call on a generator without a window.
   *
   * @throws {PolyflakeError} `invalid_type`; `out_of_range` for an end before the window's start; `time_out_of_range`.
   */
  extendWindow(end: Date | number): void {
    attached(isObject(this) && #handle in this);
    const m: MachineFor<"snoExtendWindow"> = this.#handle.machine;
    const later = time(end, "end");
    m.numbers[extensionSlots.end] = later;
    inDates([end], () => this.#handle.call("snoExtendWindow"));
    if (this.#claim) this.#claim.end = Math.max(this.#claim.end, later);
  }

  /**
   * The current figures. No generator can be restored from them.
   *
   * @throws {PolyflakeError} `clock_failed`, `time_out_of_range`.
   */
  stats(): Stats {
    attached(isObject(this) && #handle in this);
    return statsOf(this.#handle.call("snoStats").numbers);
  }

  /**
   * Ends the generator and returns the snapshot to restore from, only once.
   *
   * @throws {PolyflakeError} `generator_closed` if it was closed before.
   */
  close(): Snapshot {
    attached(isObject(this) && #handle in this);
    this.#seed();
    const snapshot = snapshotOf(this.#handle.call("snoClose").numbers);
    if (this.#claim) this.#claim.end = -Infinity;
    return snapshot;
  }

  /** One ID if one can be made now. */
  #now(metabyte: unknown): SnoId<never> {
    const m: MachineFor<"snoTryGenerate"> = this.#ready(metabyte);
    this.#handle.check(m.calls.snoTryGenerate());
    return m.text(0) as SnoId<never>;
  }

  /** Makes one ID, waiting if needed, and returns its bytes. */
  #later(metabyte: unknown, signal: Signal | undefined, made?: number): Promise<Uint8Array> {
    this.#ready(metabyte);
    return this.#handle.later("snoOneAsync", (m) => m.bytes.slice(0, LENGTH), signal, made);
  }

  /** Makes `count` IDs, or without waiting those that can be made now; the caller copies the bytes at once. */
  #fill(count: number, metabyte: unknown, made: number, waits: boolean): Uint8Array {
    const m: MachineFor<"snoFill" | "snoFillNow"> = this.#ready(metabyte);
    m.numbers[manySlots.count] = count;
    this.#handle.check(waits ? m.calls.snoFill() : m.calls.snoFillNow(), made);
    return m.bytes.subarray(0, m.numbers[answerSlots.length]! * LENGTH);
  }

  /** Writes the arguments of every ID: the handle and the metabyte. */
  #ready(metabyte: unknown): Machine {
    if (!this.#seeded) this.#seed();
    const ready = this.#handle.ready();
    const m: MachineFor<CallTaking<"snoOne">> = ready;
    m.numbers[snoOneSlots.metabyte] = metabyte === undefined ? this.#metabyte : integer(metabyte, "metabyte");
    return ready;
  }

  /**
   * Asks for random bytes before the clock is read: the global scope of a worker has neither, but only random bytes report that.
   */
  #seed(): void {
    if (!this.#seeded) randomBytes(1);
    this.#seeded = true;
  }
}

let shared: Generator | undefined;

/**
 * One new ID of the given metabyte (0..255; 0 by default) from the thread's default generator, which has a default partition unless
 * {@link setDefaultGenerator} set another. Another copy of the package (a bundled one, a second version) has its own,
 * under another partition, since all copies in a realm draw from one source.
 *
 * @throws {PolyflakeError} as {@link Generator.generate}.
 */
export function generate<M extends number = number>(metabyte?: Expected<M>): SnoId<M> {
  return (shared ??= new Generator()).generate(metabyte);
}

/** Many new IDs from the generator of {@link generate}: see {@link Generator.generateMany}. */
export function generateMany(count: number, metabyte?: number): SnoArray {
  return (shared ??= new Generator()).generateMany(count, metabyte);
}

/** One new ID from the generator of {@link generate}, waiting without holding the thread: see {@link Generator.generateAsync}. */
export function generateAsync<M extends number = number>(
  metabyte?: Expected<M>,
  options?: AsyncOptions,
): Promise<SnoId<M>> {
  return (shared ??= new Generator()).generateAsync(metabyte, options);
}

/** Many new IDs from the generator of {@link generate}, waiting without holding the thread: see {@link Generator.generateManyAsync}. */
export function generateManyAsync(count: number, metabyte?: number, options?: AsyncOptions): Promise<SnoArray> {
  return (shared ??= new Generator()).generateManyAsync(count, metabyte, options);
}

/**
 * Sets the generator behind {@link generate} on this thread, for tests, with a clock and other options, or for a whole program.
 * `undefined` stands for a new one, under a new partition. The previous generator is not used again by `generate`; code that
 * holds it can still use it.
 *
 * ```js
 * sno.setDefaultGenerator(new sno.Generator({ partition: 7, clock: () => Date.now() })); // sees mocked time
 * sno.generate();
 * sno.setDefaultGenerator(undefined);
 * ```
 *
 * @throws {PolyflakeError} `invalid_type` unless it is a generator of this copy of the package.
 */
export function setDefaultGenerator(generator: Generator | undefined): void {
  shared = generator === undefined ? undefined : generatorOf(generators, generator);
}
