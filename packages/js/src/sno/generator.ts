import { attached, integer, isObject, time, within } from "../checks.js";
import { randomBytes } from "../entropy.js";
import { Kept } from "../kept.js";
import { type AsyncOptions, fillLater, type Signal, signalOf } from "../later.js";
import { BATCH, type Machine, MOST } from "../machine.js";
import { fillBy, fillNow } from "../packed.js";
import { lendTo } from "../partitions.js";
import { enroll, generatorOf } from "../pool.js";
import { LENGTH, SnoArray } from "./ids.js";
import { machine } from "./machine.js";
import {
  type GeneratorOptions,
  numbersOf,
  type RestoreOptions,
  type Snapshot,
  type Stats,
  settingsOf,
  snapshotOf,
  statsOf,
} from "./options.js";

export type { GeneratorOptions, RestoreOptions, Snapshot, Stats } from "./options.js";

/** Where a generator begins: anew, at a snapshot, at one of the original's. */
class Origin {
  constructor(
    readonly how: 0 | 1 | 2,
    readonly snapshot?: unknown,
  ) {}
}

/**
 * Makes IDs under one partition. It copes with one step back of the clock; after a second one it waits until the clock is where it was.
 *
 * It belongs to the thread that made it: it can be neither cloned nor sent to a worker.
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
   * A function of the object's own: it may be taken off and called alone, and it keeps the generator from being cloned.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt`, after a wait of at most `maxWait`;
   * `lease_not_started`, `lease_expired` outside the window; `time_out_of_range` outside 2010..2079; `clock_failed` with
   * the `cause`; `generator_closed`; `invalid_type`, `out_of_range` for the metabyte.
   */
  readonly generate: (metabyte?: number) => string;

  readonly #kept: Kept;
  readonly #metabyte: number;
  /** Whether its first draw asks this side for no random bytes, or there are some. */
  #seeded: boolean;

  /**
   * A generator; a default partition is drawn at its first ID.
   *
   * @throws {PolyflakeError} `invalid_type`, `invalid_length`, `unknown_field` or `out_of_range` with the option as
   * `field`; `time_out_of_range` for the window.
   */
  constructor(options?: GeneratorOptions);
  constructor(options: unknown = {}, origin?: unknown) {
    const { how, snapshot } = origin instanceof Origin ? origin : new Origin(0);
    const { slots, clock, metabyte, leases } = settingsOf(options, how);
    const snapshotSlots = how === 0 ? [] : numbersOf(snapshot);
    const m = machine();
    const isLent = leases && lendTo(m);
    this.#kept = new Kept(this, m, "snoBuild", [...slots, Number(isLent), ...snapshotSlots], clock);
    this.#seeded = !isLent;
    this.#metabyte = metabyte;
    const next = m.maker("snoGenerate", (m) => m.text(0));
    this.generate = (metabyte) => {
      this.#ready(metabyte);
      return next() ?? this.#kept.refused();
    };
    enroll(this, { kept: this.#kept, metabyte, fill: this.#fill.bind(this), now: this.#now.bind(this), later: this.#later.bind(this) });
  }

  /**
   * A generator that goes on where a closed one stopped, with its partition and bounds. Restore a snapshot once.
   *
   * @throws {PolyflakeError} as the constructor; `missing_field`; `out_of_range` for a snapshot that no generator can have
   * left.
   */
  static restore(snapshot: Snapshot, options: RestoreOptions = {}): Generator {
    return Generator.#from(options, new Origin(1, snapshot));
  }

  /**
   * A generator that goes on from a snapshot of the original, with the original's habits: bounds in the wrong order are
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
   * An ID of a given time, a Date or integer Unix milliseconds, inside the window or outside. Its sequence rolls over silently,
   * so uniqueness is not promised: for IDs of things that have their own time, few at once.
   *
   * @throws {PolyflakeError} `invalid_type`, `time_out_of_range`, `generator_closed`.
   */
  generateAt(at: Date | number, metabyte?: number): string {
    attached(isObject(this) && #kept in this);
    const unixMs = time(at, "at");
    const m = this.#ready(metabyte);
    m.numbers[2] = unixMs;
    this.#kept.check(m.calls.snoGenerateAt());
    return m.text(0);
  }

  /**
   * Many new IDs, at most 16,777,216 at once, in the order of time.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}, with `written`: how many were made before; `out_of_range` for
   * the count.
   */
  generateMany(count: number, metabyte?: number): SnoArray {
    attached(isObject(this) && #kept in this);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    fillBy(many, LENGTH, BATCH, (count, made) => this.#fill(count, metabyte, made, true));
    return new SnoArray(many);
  }

  /**
   * One new ID if there is one now. It never waits, whatever the options say.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate(metabyte?: number): string {
    attached(isObject(this) && #kept in this);
    return this.#now(metabyte);
  }

  /**
   * The new IDs that there are now, up to a number of at most 16,777,216. It never waits: there may be fewer, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number, metabyte?: number): SnoArray {
    attached(isObject(this) && #kept in this);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    return new SnoArray(fillNow(many, LENGTH, BATCH, (count, made) => this.#fill(count, metabyte, made, false)));
  }

  /**
   * One new ID, of the given metabyte (0..255) or the generator's own, in time.
   *
   * The thread is free while the call waits, by the rules of {@link Generator.generate}: `onExhausted`, `maxWait` and `onStall`.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}; the reason of a signal that is aborted. All of it rejects.
   */
  async generateAsync(metabyte?: number, options: AsyncOptions = {}): Promise<string> {
    attached(isObject(this) && #kept in this);
    const id = await this.#later(metabyte, signalOf(options));
    return new SnoArray(id).at(0)!;
  }

  /**
   * Many new IDs, at most 16,777,216 at once, in time. The thread is free now and then, too, while many are made; a call that is
   * aborted loses what it has made.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}; the reason of a signal that is aborted. All of it rejects.
   */
  async generateManyAsync(count: number, metabyte?: number, options: AsyncOptions = {}): Promise<SnoArray> {
    attached(isObject(this) && #kept in this);
    const signal = signalOf(options);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    const some = (count: number, made: number) => this.#fill(count, metabyte, made, false);
    const one = (made: number) => this.#later(metabyte, signal, made);
    await fillLater(many, LENGTH, BATCH, { some, one }, signal);
    return new SnoArray(many);
  }

  /** The partition, once the generator has one: a default one is drawn at the first ID. */
  get partition(): number | undefined {
    attached(isObject(this) && #kept in this);
    const partition = this.#kept.call("snoPartition").numbers[0]!;
    return Number.isNaN(partition) ? undefined : partition;
  }

  /**
   * Moves the end of the window later, to a Date or integer Unix milliseconds; an earlier or equal end changes nothing,
   * and neither does any end of a generator without a window.
   *
   * @throws {PolyflakeError} `invalid_type`; `out_of_range` for an end before the window's start; `time_out_of_range`.
   */
  extendWindow(end: Date | number): void {
    attached(isObject(this) && #kept in this);
    this.#kept.machine.numbers[2] = time(end, "end");
    this.#kept.call("snoExtendWindow");
  }

  /**
   * Figures of now. Nothing can be restored from them.
   *
   * @throws {PolyflakeError} `clock_failed`, `time_out_of_range`.
   */
  stats(): Stats {
    attached(isObject(this) && #kept in this);
    return statsOf(this.#kept.call("snoStats").numbers);
  }

  /**
   * Ends the generator and gives the snapshot to restore from, once.
   *
   * @throws {PolyflakeError} `generator_closed` if it was.
   */
  close(): Snapshot {
    attached(isObject(this) && #kept in this);
    this.#seed();
    return snapshotOf(this.#kept.call("snoClose").numbers);
  }

  /** One ID if there is one now. */
  #now(metabyte: unknown): string {
    const m = this.#ready(metabyte);
    this.#kept.check(m.calls.snoTryGenerate());
    return m.text(0);
  }

  /** Makes one ID, waiting for it if need be, and gives its bytes. */
  #later(metabyte: unknown, signal: Signal | undefined, made?: number): Promise<Uint8Array> {
    this.#ready(metabyte);
    return this.#kept.later("snoOneAsync", (m) => m.bytes.slice(0, LENGTH), signal, made);
  }

  /** Makes so many IDs, in memory to be copied at once; those there are for now, where it may not wait. */
  #fill(count: number, metabyte: unknown, made: number, waits: boolean): Uint8Array {
    const m = this.#ready(metabyte);
    m.numbers[2] = count;
    this.#kept.check(waits ? m.calls.snoFill() : m.calls.snoFillNow(), made);
    return m.bytes.subarray(0, m.numbers[0]! * LENGTH);
  }

  /** Writes what every ID needs: the handle and the metabyte. */
  #ready(metabyte: unknown): Machine {
    if (!this.#seeded) this.#seed();
    const m = this.#kept.ready();
    m.numbers[1] = metabyte === undefined ? this.#metabyte : integer(metabyte, "metabyte");
    return m;
  }

  /** Looks for random bytes before the clock is read: the global scope of a worker has neither, and says so for these alone. */
  #seed(): void {
    if (!this.#seeded) randomBytes(1);
    this.#seeded = true;
  }
}

let shared: Generator | undefined;

/**
 * One new ID of the given metabyte (0..255; 0 by default) from a generator that all of the thread shares: one with a default
 * partition, unless {@link setDefaultGenerator} set another. Another copy of the package (CommonJS beside ES modules, a second version) has another such generator,
 * under another partition, since all copies in a realm draw from one source.
 *
 * @throws {PolyflakeError} as {@link Generator.generate}.
 */
export function generate(metabyte?: number): string {
  return (shared ??= new Generator()).generate(metabyte);
}

/**
 * Sets the generator behind {@link generate} on this thread: for tests, with a clock and what else an ID is made of, or for all
 * of a program. `undefined` stands for a new one, under a new partition; the one before is never taken up again, and stays usable by
 * those who hold it.
 *
 * ```js
 * sno.setDefaultGenerator(new sno.Generator({ partition: 7, clock: () => Date.now() })); // sees mocked time
 * sno.generate();
 * sno.setDefaultGenerator(undefined);
 * ```
 *
 * @throws {PolyflakeError} `invalid_type` for other than a generator of this copy of the package.
 */
export function setDefaultGenerator(generator: Generator | undefined): void {
  shared = generator === undefined ? undefined : generatorOf(generator, Generator);
}
