import { attached, flag, generatorOf, inDates, integer, isObject, time, within } from "../checks.js";
import type { HotGuidId } from "../decode/hotguid.js";
import { randomBytes } from "../entropy.js";
import { Handle } from "../handle.js";
import { type AsyncOptions, fillLater, type Signal, signalOf } from "../later.js";
import { type CallTaking, type Machine, type MachineFor, MOST } from "../machine.js";
import { sharedSettings, WINDOW, type WindowOptions } from "../options.js";
import { fillBy, fillNow } from "../packed.js";
import {
  answerSlots,
  BATCH,
  extensionSlots,
  hotguidOneSlots,
  hotguidOptionsSlots,
  hotguidStatsSlots,
  manySlots,
  optionsSlots,
} from "../protocol.js";
import { nameOf, nothingOf, present } from "../show.js";
import { put, take } from "../slots.js";
import { HotGuidArray, LENGTH, machine, TEXT_LENGTH } from "./ids.js";

/** Options for a generator. */
export interface GeneratorOptions extends WindowOptions {
  /**
   * `true` to make UUIDs of version 8, which strict validators accept, instead of the compatible form; {@link uuid8Parts} reads
   * them. Version and variant take 6 of the 40 random bits: among 18,583 generators that are active in the same second, two share
   * the other 34 with a chance of 1 %.
   */
  uuid8?: boolean;
}

const OPTIONS = ["uuid8", ...WINDOW] as const;

/** Figures of a generator at one moment. */
export interface Stats {
  /** Random bytes that tell the generator from all others: 5 bytes, drawn at its first ID. */
  machine: Uint8Array | undefined;
  /** The highest second in which an ID was made, in Unix seconds; undefined before the first ID. */
  lastSecond: number | undefined;
  /** Number of IDs made in that second. */
  len: number;
  /** `true` once the generator was closed. */
  closed: boolean;
}

/** All generators of this copy of the package. */
const generators = /* @__PURE__ */ new WeakSet<Generator>();

/**
 * Makes Hot Guids. 5 random bytes, drawn at the first ID, tell the generator from all others: among 148,664 generators that are
 * active in the same second, the chance that two share these bytes is 1 %, and even those repeat an ID only if their counters
 * meet. When the clock goes back, a generator stays in the highest second seen.
 *
 * A generator belongs to the thread that made it: it can be neither cloned nor sent to a worker.
 *
 * ```js
 * const ids = new hotguid.Generator();
 * hotguid.shardKey(ids.generate(7)); // 7
 * ```
 */
export class Generator {
  static readonly name: string = "Generator";

  /**
   * One new ID, for a shard key of your choice: 0..4294967295, 0 by default.
   *
   * A property of each object, not of the class: it can be taken off and called alone, and it keeps the generator from being
   * cloned.
   *
   * @throws {PolyflakeError} `sequence_exhausted` after 16,777,216 IDs in one second, with `retryAt`, after a wait of at most
   * `maxWait`; `lease_not_started`, `lease_expired` outside the window; `time_out_of_range` outside 1970..2106; `clock_failed`
   * with the `cause`; `entropy_unavailable`; `generator_closed`; `invalid_type`, `out_of_range` for the shard key.
   */
  declare readonly generate: (shardKey?: number) => HotGuidId;

  readonly #handle: Handle;
  /** `true` once random bytes were provided. */
  #settled = false;

  /**
   * @throws {PolyflakeError} `invalid_type`, `unknown_field` or `out_of_range` with the option as `field`; `time_out_of_range` for
   * the window.
   */
  constructor(options: GeneratorOptions = {}) {
    const { shared, clock, times, given } = sharedSettings(options, OPTIONS);
    const loaded = machine();
    const m: MachineFor<"hotguidBuild"> = loaded;
    const uuid8 = Number(flag(given.uuid8, "uuid8"));
    const write = (): void => {
      put(m.numbers, optionsSlots, shared);
      put(m.numbers, hotguidOptionsSlots, { uuid8 });
    };
    this.#handle = inDates(times, () => new Handle(this, loaded, write, m.calls.hotguidBuild, clock));
    const next = m.maker("hotguidGenerate", (m) => m.ascii(0, TEXT_LENGTH) as HotGuidId, clock);
    present(this, nothingOf, nameOf);
    this.generate = (shardKey = 0) => {
      this.#ready(shardKey);
      return next() ?? this.#handle.refused();
    };
    generators.add(this);
  }

  /**
   * Many new IDs, at most 16,777,216 at once, ordered by time.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}, with `written`, the number of IDs made before the error;
   * `out_of_range` for the count.
   */
  generateMany(count: number, shardKey = 0): HotGuidArray {
    attached(isObject(this) && #handle in this);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    fillBy(many, LENGTH, BATCH, (count, made) => this.#fill(count, shardKey, made, true));
    return new HotGuidArray(many);
  }

  /**
   * One new ID if one can be made now. Never waits: the options for waiting do not apply.
   *
   * @throws {PolyflakeError} `sequence_exhausted` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate(shardKey = 0): HotGuidId {
    attached(isObject(this) && #handle in this);
    return this.#now(shardKey);
  }

  /**
   * Many new IDs without waiting, at most 16,777,216: only those that can be made now, which may be fewer than `count`, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number, shardKey = 0): HotGuidArray {
    attached(isObject(this) && #handle in this);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    return new HotGuidArray(fillNow(many, LENGTH, BATCH, (count, made) => this.#fill(count, shardKey, made, false)));
  }

  /**
   * Resolves to one new ID, for a shard key of your choice.
   *
   * The thread is free while the call waits. `onExhausted`, `maxWait` and `onStall` hold as in {@link Generator.generate}.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}, and the reason of an aborted signal, all as rejections of the promise.
   */
  async generateAsync(shardKey = 0, options: AsyncOptions = {}): Promise<HotGuidId> {
    attached(isObject(this) && #handle in this);
    const id = await this.#later(shardKey, signalOf(options));
    return new HotGuidArray(id).at(0)!;
  }

  /**
   * Resolves to many new IDs, at most 16,777,216 at once. Other work also gets its turn every 65,536 IDs; an aborted call loses
   * the IDs that it has made.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, and the reason of an aborted signal, all as rejections of the
   * promise.
   */
  async generateManyAsync(count: number, shardKey = 0, options: AsyncOptions = {}): Promise<HotGuidArray> {
    attached(isObject(this) && #handle in this);
    const signal = signalOf(options);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    const some = (count: number, made: number) => this.#fill(count, shardKey, made, false);
    const one = (made: number) => this.#later(shardKey, signal, made);
    await fillLater(many, LENGTH, BATCH, { some, one }, signal);
    return new HotGuidArray(many);
  }

  /**
   * Moves the end of the window later, to a Date or integer Unix milliseconds. An end that is not later changes nothing, nor does
   * the call on a generator without a window.
   *
   * @throws {PolyflakeError} `invalid_type`; `out_of_range` for an end before the window's start; `time_out_of_range`.
   */
  extendWindow(end: Date | number): void {
    attached(isObject(this) && #handle in this);
    const m: MachineFor<"hotguidExtendWindow"> = this.#handle.machine;
    m.numbers[extensionSlots.end] = time(end, "end");
    inDates([end], () => this.#handle.call("hotguidExtendWindow"));
  }

  /** The current figures. */
  stats(): Stats {
    attached(isObject(this) && #handle in this);
    const { numbers, bytes } = this.#handle.call("hotguidStats");
    const { lastSecond, len, closed, isDrawn } = take(numbers, hotguidStatsSlots);
    return {
      machine: isDrawn === 1 ? bytes.slice(0, 5) : undefined,
      lastSecond: Number.isNaN(lastSecond) ? undefined : lastSecond,
      len,
      closed: closed === 1,
    };
  }

  /**
   * Ends the generator. There is nothing to save: the next one draws its own random bytes.
   *
   * @throws {PolyflakeError} `generator_closed` if it was closed before.
   */
  close(): void {
    attached(isObject(this) && #handle in this);
    this.#handle.call("hotguidClose");
  }

  /** One ID if one can be made now. */
  #now(shardKey: unknown): HotGuidId {
    const m: MachineFor<"hotguidTryGenerate"> = this.#ready(shardKey);
    this.#handle.check(m.calls.hotguidTryGenerate());
    return m.ascii(0, TEXT_LENGTH) as HotGuidId;
  }

  /** Makes one ID, waiting if needed, and returns its bytes. */
  #later(shardKey: unknown, signal: Signal | undefined, made?: number): Promise<Uint8Array> {
    this.#ready(shardKey);
    return this.#handle.later("hotguidOneAsync", (m) => m.bytes.slice(0, LENGTH), signal, made);
  }

  /** Makes `count` IDs, or without waiting those that can be made now; the caller copies the bytes at once. */
  #fill(count: number, shardKey: unknown, made: number, waits: boolean): Uint8Array {
    const m: MachineFor<"hotguidFill" | "hotguidFillNow"> = this.#ready(shardKey);
    m.numbers[manySlots.count] = count;
    this.#handle.check(waits ? m.calls.hotguidFill() : m.calls.hotguidFillNow(), made);
    return m.bytes.subarray(0, m.numbers[answerSlots.length]! * LENGTH);
  }

  /** Writes the arguments of every ID: the handle and the shard key. */
  #ready(shardKey: unknown): Machine {
    if (!this.#settled) this.#settle();
    const ready = this.#handle.ready();
    const m: MachineFor<CallTaking<"hotguidOne">> = ready;
    m.numbers[hotguidOneSlots.shardKey] = integer(shardKey, "shardKey");
    return ready;
  }

  /** Provides random bytes: at the first ID and not before, since the global scope of a worker has no entropy. */
  #settle(): void {
    this.#handle.machine.bytes.set(randomBytes(8));
    this.#handle.call("hotguidProvide");
    this.#settled = true;
  }
}

let shared: Generator | undefined;

/**
 * One new ID from the thread's default generator, for a shard key of your choice: 0..4294967295, 0 by default.
 * {@link setDefaultGenerator} replaces the generator. Another copy of the package (a bundled one, a second version) has its
 * own, with its own random bytes.
 *
 * @throws {PolyflakeError} as {@link Generator.generate}.
 */
export function generate(shardKey?: number): HotGuidId {
  return (shared ??= new Generator()).generate(shardKey);
}

/** Many new IDs from the generator of {@link generate}: see {@link Generator.generateMany}. */
export function generateMany(count: number, shardKey?: number): HotGuidArray {
  return (shared ??= new Generator()).generateMany(count, shardKey);
}

/** One new ID from the generator of {@link generate}, waiting without holding the thread: see {@link Generator.generateAsync}. */
export function generateAsync(shardKey?: number, options?: AsyncOptions): Promise<HotGuidId> {
  return (shared ??= new Generator()).generateAsync(shardKey, options);
}

/** Many new IDs from the generator of {@link generate}, waiting without holding the thread: see {@link Generator.generateManyAsync}. */
export function generateManyAsync(count: number, shardKey?: number, options?: AsyncOptions): Promise<HotGuidArray> {
  return (shared ??= new Generator()).generateManyAsync(count, shardKey, options);
}

/**
 * Sets the generator behind {@link generate} on this thread, for tests, with a clock and other options, or for a whole program.
 * `undefined` stands for a new one, with new random bytes. The previous generator is not used again by `generate`; code that
 * holds it can still use it.
 *
 * ```js
 * hotguid.setDefaultGenerator(new hotguid.Generator({ clock: () => Date.now() })); // sees mocked time
 * hotguid.generate();
 * hotguid.setDefaultGenerator(undefined);
 * ```
 *
 * @throws {PolyflakeError} `invalid_type` unless it is a generator of this copy of the package.
 */
export function setDefaultGenerator(generator: Generator | undefined): void {
  shared = generator === undefined ? undefined : generatorOf(generators, generator);
}
