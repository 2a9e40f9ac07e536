import { integer, time, within } from "../checks.js";
import type { GuardedClock } from "../clock.js";
import type { ErrorCode, ErrorDetails } from "../errors.js";
import { BATCH, type Machine, machine } from "../machine.js";
import { draw } from "../partitions.js";
import { SnoArray } from "./array.js";
import { LENGTH } from "./ids.js";
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

/** The most IDs of one call: 256 full ticks. */
const MOST = 1 << 24;

/** Where a generator begins: anew, at a snapshot, at one of the original's. */
class Origin {
  constructor(
    readonly how: 0 | 1 | 2,
    readonly snapshot?: unknown,
  ) {}
}

/** Tells the machine of generators that nobody holds any more; some edge runtimes have no such thing. */
const forgotten =
  typeof FinalizationRegistry === "function" ? /* @__PURE__ */ new FinalizationRegistry(release) : undefined;

function release(handle: number): void {
  const m = machine();
  m.numbers[0] = handle;
  m.check(m.calls.snoRelease());
}

/**
 * Makes IDs under one partition.
 *
 * It belongs to the thread that made it: it can be neither cloned nor sent to a worker.
 *
 * ```js
 * const ids = new sno.Generator({ partition: 7, metabyte: 1 });
 * sno.parse(ids.generate()).partition; // 7
 * ```
 */
export class Generator {
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

  readonly #machine: Machine;
  readonly #handle: number;
  readonly #metabyte: number;
  readonly #clock: GuardedClock | undefined;
  /** Whether the partition is given or offered. */
  #settled: boolean;

  /**
   * A generator; a default partition is drawn at its first ID.
   *
   * @throws {PolyflakeError} `invalid_type`, `invalid_length`, `unknown_field` or `out_of_range` with the option as
   * `field`; `time_out_of_range` for the window.
   */
  constructor(options?: GeneratorOptions);
  constructor(options: unknown = {}, origin?: unknown) {
    const { how, snapshot } = origin instanceof Origin ? origin : new Origin(0);
    const { numbers, clock, metabyte, settled } = settingsOf(options, how !== 0);
    const slots = [how, ...numbers, ...(how === 0 ? [] : numbersOf(snapshot))];
    const m = machine();
    m.numbers.set(slots);
    m.check(m.calls.snoBuild(clock?.read));
    this.#machine = m;
    this.#handle = m.numbers[0]!;
    this.#metabyte = metabyte;
    this.#clock = clock;
    this.#settled = settled;
    forgotten?.register(this, this.#handle);
    this.generate = (metabyte) => {
      this.#ready(metabyte);
      this.#check(m.calls.snoGenerate());
      return m.text(0);
    };
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
   * An ID of a given time, a Date or integer Unix milliseconds. Its sequence rolls over silently, so uniqueness is not
   * promised: for IDs of things that have their own time, few at once.
   *
   * @throws {PolyflakeError} `invalid_type`, `time_out_of_range`, `generator_closed`.
   */
  generateAt(at: Date | number, metabyte?: number): string {
    const unixMs = time(at, "time");
    this.#ready(metabyte);
    this.#machine.numbers[2] = unixMs;
    this.#check(this.#machine.calls.snoGenerateAt());
    return this.#machine.text(0);
  }

  /**
   * Many new IDs, at most 16,777,216 at once, in the order of time.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}, with `written`: how many were made before; `out_of_range` for
   * the count.
   */
  generateMany(count: number, metabyte?: number): SnoArray {
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    let made = 0;
    // At least once: the metabyte is checked also where no ID is wanted.
    do {
      const here = Math.min(BATCH, count - made);
      this.#ready(metabyte);
      this.#machine.numbers[2] = here;
      this.#check(this.#machine.calls.snoFill(), made);
      many.set(this.#machine.bytes.subarray(0, here * LENGTH), made * LENGTH);
      made += here;
    } while (made < count);
    return new SnoArray(many);
  }

  /** The partition, once the generator has one: a default one is drawn at the first ID. */
  get partition(): number | undefined {
    this.#call("snoPartition");
    const partition = this.#machine.numbers[0]!;
    return Number.isNaN(partition) ? undefined : partition;
  }

  /**
   * Moves the end of the window later, to a Date or integer Unix milliseconds; an earlier or equal end changes nothing.
   *
   * @throws {PolyflakeError} `invalid_type`; `out_of_range` for an end before the window's start; `time_out_of_range`.
   */
  extendWindow(end: Date | number): void {
    this.#machine.numbers[2] = time(end, "end");
    this.#call("snoExtendWindow");
  }

  /**
   * Figures of now. Nothing can be restored from them.
   *
   * @throws {PolyflakeError} `clock_failed`, `time_out_of_range`.
   */
  stats(): Stats {
    this.#call("snoStats");
    return statsOf(this.#machine.numbers);
  }

  /**
   * Ends the generator and gives the snapshot to restore from, once.
   *
   * @throws {PolyflakeError} `generator_closed` if it was.
   */
  close(): Snapshot {
    this.#settle();
    this.#call("snoClose");
    return snapshotOf(this.#machine.numbers);
  }

  #call(name: "snoPartition" | "snoExtendWindow" | "snoStats" | "snoClose"): void {
    this.#machine.numbers[0] = this.#handle;
    this.#check(this.#machine.calls[name]());
  }

  /** Writes what every ID needs: the handle and the metabyte. */
  #ready(metabyte: unknown): void {
    if (!this.#settled) this.#settle();
    const { numbers } = this.#machine;
    numbers[1] = metabyte === undefined ? this.#metabyte : integer(metabyte, "metabyte");
    numbers[0] = this.#handle;
  }

  /** Offers a default partition where none was given: not before the first ID, since workers have no entropy then. */
  #settle(): void {
    if (this.#settled) return;
    const m = this.#machine;
    const { partition, sequenceMin } = draw(m.calls.snoDraw && (() => drawNative(m)));
    m.numbers.set([this.#handle, integer(partition, "partition"), integer(sequenceMin, "sequenceMin")]);
    m.check(m.calls.snoOffer());
    this.#settled = true;
  }

  #check(status: number, made = 0): void {
    if (status === 0) this.#machine.check(0);
    else this.#machine.check(status, (error, code) => this.#explain(error, code, made));
  }

  /** Adds what only this side knows: why the clock failed, and how many IDs earlier calls of a batch made. */
  #explain(error: ErrorDetails, code: ErrorCode, made: number): void {
    if (error.written !== undefined) error.written += made;
    const cause = code === "clock_failed" ? this.#clock?.failure() : undefined;
    if (cause !== undefined) error.cause = cause;
  }
}

/** The next default partition of the process. */
function drawNative(m: Machine): { partition: number; sequenceMin: number } {
  m.check(m.calls.snoDraw!());
  return { partition: m.numbers[0]!, sequenceMin: m.numbers[1]! };
}

let shared: Generator | undefined;

/**
 * One new ID of the given metabyte (0..255; 0 by default) from a generator that all of the thread shares, which has a
 * default partition.
 *
 * @throws {PolyflakeError} as {@link Generator.generate}.
 */
export function generate(metabyte?: number): string {
  return (shared ??= new Generator()).generate(metabyte);
}
