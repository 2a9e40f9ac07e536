import {
  ABSENT,
  attached,
  checkBoolean,
  checkGenerator,
  checkOptionalInteger,
  checkTime,
  isObject,
  runWithDates,
} from "../checks.js";
import type { Uuid7Id } from "../decode/uuid7.js";
import { prepareEntropy } from "../entropy.js";
import { PolyflakeError } from "../errors.js";
import { WindowGenerator } from "../generator.js";
import { Handle } from "../handle.js";
import type { AsyncOptions } from "../later.js";
import { type AnyLease, createLeasedHandle, defaultGenerator, readLease, rejectLeased } from "../leased.js";
import { MAX_COUNT, type Machine } from "../machine.js";
import { putOptions, readSharedSettings, WINDOW_OPTIONS, type WindowOptions } from "../options.js";
import { BATCH, register } from "../protocol.js";
import { shareHandle } from "../sharing.js";
import { LENGTH, machine, TEXT_LENGTH, Uuid7Array } from "./ids.js";
import { provideKeys } from "./keys.js";

/** Options for a generator. A lease provides the worker ID, so these options cannot be combined with a lease. */
export type GeneratorOptions = WindowOptions &
  (OwnOptions | { lease: AnyLease; workerId?: never; resumeAfter?: never; followRollbacks?: never });

interface OwnOptions {
  lease?: never;
  /**
   * The worker ID (0..65535), which replaces 16 of the 56 random bits. Generators with different worker IDs never generate
   * the same ID, even if their random bits are equal. {@link workerId} reads the worker ID from an ID.
   *
   * An earlier run of the process may have generated IDs in the current millisecond. Therefore, the first ID belongs to the
   * next millisecond, unless `resumeAfter` is set.
   */
  workerId?: number;
  /**
   * The last millisecond in which an earlier generator created IDs, as a Date or integer Unix milliseconds. {@link
   * Generator.close} returns it. All IDs of the new generator sort after those of the earlier generator, unless the earlier
   * generator started over after a clock rollback (see `followRollbacks`). The maximum is 2^44 - 1, in the year 2527, because
   * a generator stores its millisecond in 44 bits.
   */
  resumeAfter?: Date | number;
  /**
   * Whether the generator starts over in the clock's current millisecond if the clock has moved backwards by more than 10
   * seconds. By default, the generator never starts over. Instead, it uses the remaining IDs of its last millisecond, and
   * calls then throw `clock_behind` until the clock has caught up. With this option, a single wrong clock reading far in
   * the future does not stop a service.
   *
   * IDs that are generated after such a rollback sort before earlier IDs. They are still unique, because the generator
   * picks new random bits. This option cannot be combined with a worker ID.
   */
  followRollbacks?: boolean;
}

/** The options that cannot be combined with a lease. */
const EXCLUDED_WITH_LEASE = ["window", "workerId", "resumeAfter", "followRollbacks"] as const;
const OPTIONS = ["workerId", "resumeAfter", "followRollbacks", ...WINDOW_OPTIONS] as const;

/** A generator's statistics at one point in time. */
export interface Stats {
  /** The worker ID; undefined if all bits after the sequence are random. */
  workerId: number | undefined;
  /** The latest millisecond in which IDs were generated, in Unix milliseconds; undefined before the first ID. */
  lastMs: number | undefined;
  /** The number of clock rollbacks after which the generator started over. */
  rollbacks: number;
  /** `true` if the generator is closed. */
  closed: boolean;
}

/** Returns a number from a call's result, or undefined if the number is missing (NaN). */
const undefinedIfNaN = (number: number): number | undefined => (Number.isNaN(number) ? undefined : number);

/** Returns a generator's worker ID, or undefined for a generator without one. */
function workerIdOf(handle: Handle): number | undefined {
  if (handle.lease?.granted === false) return undefined;
  return undefinedIfNaN(handle.call("generatorStats").numbers[register.answer]!);
}

/** The properties that all generators of the format share. */
const FAMILY = {
  name: "uuid7",
  size: LENGTH,
  batch: BATCH,
  most: MAX_COUNT,
  parameters: 0,
  packed: (m: Machine) => m.bytes.slice(0, LENGTH),
  filled: (m: Machine) => m.bytes.subarray(0, m.numbers[register.answer]! * LENGTH),
  many: (packed: Uint8Array) => new Uuid7Array(packed),
  shown: (handle: Handle) => ({ workerId: workerIdOf(handle) }),
} as const;

/** All generators that belong to this copy of the package. */
const generators = /* @__PURE__ */ new WeakSet<Generator>();

/**
 * A generator of version 7 UUIDs (RFC 9562) that stay sorted.
 *
 * Each ID sorts after all earlier IDs from the same generator: within a millisecond, across batches, and when the clock
 * moves backwards. IDs from different generators are sorted by millisecond only. No ID has a timestamp later than the
 * latest clock reading. After a clock rollback, the generator first uses the remaining IDs of its current millisecond, and
 * calls then wait for the clock or throw `clock_behind`.
 *
 * The 18-bit sequence starts at a random value in the lower half of its range in each millisecond, so at least 131,072 IDs
 * are available per millisecond. IDs from different generators are distinguished by 56 random bits. If the
 * generators have different worker IDs, the IDs are guaranteed to differ.
 *
 * A generator belongs to the thread that created it, so it can be neither cloned nor sent to a worker.
 *
 * ```js
 * const ids = new uuid7.Generator({ workerId: 42 });
 * uuid7.workerId(ids.generate()); // 42
 * ```
 */
export class Generator extends WindowGenerator<[], Uuid7Id, Uuid7Array> {
  static override readonly name: string = "Generator";

  /**
   * Returns a new ID.
   *
   * This is a property of each generator, not a method of the class, so that you can detach it and call it as a plain function.
   * The property also prevents the generator from being cloned.
   *
   * @throws {PolyflakeError} `sequence_exhausted` with `retryAt` if all IDs of a millisecond are used up and no ID became
   * available within `maxWait`, or `clock_behind` if the clock is also behind that millisecond; `lease_not_started` before
   * the window starts; `lease_expired` after it ends; `time_out_of_range` before 1970; `clock_failed` with the `cause` if
   * the clock fails; `entropy_unavailable` if the operating system provides no random bytes; `generator_closed` if the
   * generator is closed; `forked` after a restore if the generator has a worker ID or a window.
   */
  declare readonly generate: () => Uuid7Id;

  readonly #handle: Handle;

  /**
   * Creates a generator.
   *
   * With a worker ID, a process has one live generator: equal options return another handle on it, and
   * {@link Generator.close} closes it for all handles.
   *
   * @throws {PolyflakeError} `invalid_type`, `unknown_field` or `out_of_range` if an option is invalid, in which case `field`
   * names the option; `out_of_range` for a worker ID together with `followRollbacks`; `time_out_of_range` if the window is
   * outside the format's time range; `lease_mismatch` if an option conflicts with the lease; `worker_id_in_use` if a live
   * generator has the worker ID and other options, one of which `field` names.
   */
  constructor(options: GeneratorOptions = {}) {
    const { shared, clock, sharing, times, given } = readSharedSettings(options, OPTIONS);
    const lease = readLease(given, EXCLUDED_WITH_LEASE);
    const workerId = checkOptionalInteger(given.workerId, "workerId");
    const resumeAfter = given.resumeAfter === undefined ? ABSENT : checkTime(given.resumeAfter, "resumeAfter");
    const follows = Number(checkBoolean(given.followRollbacks, "followRollbacks"));
    if (follows === 1 && !Number.isNaN(workerId)) {
      const reason = "expected either `workerId` or `followRollbacks`, found both";
      throw new PolyflakeError("out_of_range", reason, { field: "followRollbacks" });
    }
    const identity =
      sharing && !Number.isNaN(workerId)
        ? {
            scheme: "uuid7",
            worker: `${workerId}`,
            option: "workerId",
            options: { resumeAfter: `${resumeAfter}`, ...sharing },
            ends: shared.windowEnd,
          }
        : undefined;
    const m = machine();
    provideKeys(m);
    prepareEntropy();
    const build = (worker = workerId, windowStart = shared.windowStart, windowEnd = shared.windowEnd) => {
      const write = (): void => putOptions(m, { ...shared, windowStart, windowEnd }, [worker, resumeAfter, follows]);
      return runWithDates(
        [...times, given.resumeAfter],
        () => new Handle(m, write, m.calls.uuid7Build, clock, identity),
      );
    };
    const handle = lease
      ? createLeasedHandle(lease, { settings: { family: "uuid7" }, clock, build })
      : shareHandle(m, identity, build);
    const one = (m: Machine) => m.ascii(0, TEXT_LENGTH) as Uuid7Id;
    const ready = () => handle.ready();
    super(handle, { ...FAMILY, ready, next: m.maker("uuid7Generate", one, !clock), one });
    this.#handle = handle;
    generators.add(this);
  }

  /** Returns the generator's current statistics. */
  stats(): Stats {
    attached(isObject(this) && #handle in this);
    const [workerId, lastMs, rollbacks, closed] = this.#handle.call("generatorStats").answer();
    return { workerId: undefinedIfNaN(workerId), lastMs: undefinedIfNaN(lastMs), rollbacks, closed: closed === 1 };
  }

  /**
   * Closes the generator, for all handles on it. Returns the last millisecond in which it generated an ID, or undefined if it was never used. To
   * continue with another generator, pass this value as the `resumeAfter` option.
   *
   * @throws {PolyflakeError} `generator_closed` if the generator is already closed.
   */
  close(): number | undefined {
    attached(isObject(this) && #handle in this);
    rejectLeased(this.#handle);
    return undefinedIfNaN(this.#handle.call("generatorClose").numbers[register.answer]!);
  }
}

let sharedGenerator: Generator | undefined;

/** Returns the generator that {@link generate} uses. With a lease, it can belong to a different copy of the package. */
const getDefaultGenerator = (): Generator =>
  (sharedGenerator ??= defaultGenerator("uuid7", (options) => new Generator(options)));

/** Returns the array, converted to this copy's class if a different copy of the package created it. */
const toOwnArray = (ids: Uuid7Array): Uuid7Array =>
  ids instanceof Uuid7Array ? ids : new Uuid7Array((ids as Uuid7Array).bytes);

/**
 * Returns a new ID from this thread's default generator.
 *
 * {@link setDefaultGenerator} replaces the default generator. Each copy of the package, such as a bundled one or a second
 * version, has its own default generator.
 *
 * @throws {PolyflakeError} the same errors as {@link Generator.generate}.
 */
export function generate(): Uuid7Id {
  return getDefaultGenerator().generate();
}

/** Returns `count` new IDs from the default generator. See {@link Generator.generateMany}. */
export function generateMany(count: number): Uuid7Array {
  return toOwnArray(getDefaultGenerator().generateMany(count));
}

/** Resolves to a new ID from the default generator, without blocking the thread. See {@link Generator.generateAsync}. */
export function generateAsync(options?: AsyncOptions): Promise<Uuid7Id> {
  return getDefaultGenerator().generateAsync(options);
}

/**
 * Resolves to `count` new IDs from the default generator, without blocking the thread. See {@link Generator.generateManyAsync}.
 */
export function generateManyAsync(count: number, options?: AsyncOptions): Promise<Uuid7Array> {
  return getDefaultGenerator().generateManyAsync(count, options).then(toOwnArray);
}

/**
 * Sets this thread's default generator, which {@link generate} uses. Use it, for example, to set a clock in tests, or to
 * configure the generator for a whole program.
 *
 * Pass `undefined` to create a new default generator. `generate` stops using the previous generator, but code that holds a
 * reference to it can still use it.
 *
 * ```js
 * uuid7.setDefaultGenerator(new uuid7.Generator({ testClock: () => Date.now() })); // sees mocked time
 * uuid7.generate();
 * uuid7.setDefaultGenerator(undefined);
 * ```
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is undefined or a generator of this copy of the package.
 */
export function setDefaultGenerator(generator: Generator | undefined): void {
  sharedGenerator = generator === undefined ? undefined : checkGenerator(generators, generator);
}
