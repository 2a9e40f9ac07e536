import { attached, checkGenerator, checkInteger, checkTime, isObject, runWithDates } from "../checks.js";
import type { GenerateFunction, SnoId } from "../decode/sno.js";
import { prepareEntropy, randomBytes } from "../entropy.js";
import { WindowGenerator } from "../generator.js";
import { Handle } from "../handle.js";
import type { AsyncOptions } from "../later.js";
import { createLeasedHandle, defaultGenerator, rejectLeased, warnWithoutLease } from "../leased.js";
import { MAX_COUNT, type Machine } from "../machine.js";
import { putOptions } from "../options.js";
import { lendPartitionTable } from "../partitions.js";
import { BATCH, register } from "../protocol.js";
import { type Sharing, shareHandle } from "../sharing.js";
import { LENGTH, machine, SnoArray } from "./ids.js";
import {
  type GeneratorOptions,
  numbersOf,
  type RestoreOptions,
  readSettings,
  readSnapshot,
  readStats,
  type Snapshot,
  type Stats,
} from "./options.js";

export type { GeneratorOptions, RestoreOptions, Snapshot, Stats } from "./options.js";

/**
 * The origin of a generator. `how` is 0 for a new generator, 1 for a generator restored from a snapshot, and 2 for a
 * generator restored from a snapshot of the original library.
 */
class Origin {
  constructor(
    readonly how: 0 | 1 | 2,
    readonly snapshot?: unknown,
  ) {}
}

/** Returns a generator's partition, or undefined if no partition has been assigned yet. */
function partitionOf(handle: Handle): number | undefined {
  if (handle.lease?.granted === false) return undefined;
  const partition = handle.call("snoPartition").numbers[register.answer]!;
  return Number.isNaN(partition) ? undefined : partition;
}

/** The properties that all generators of the format share. */
const FAMILY = {
  name: "sno",
  size: LENGTH,
  batch: BATCH,
  most: MAX_COUNT,
  parameters: 1,
  packed: (m: Machine) => m.bytes.slice(0, LENGTH),
  filled: (m: Machine) => m.bytes.subarray(0, m.numbers[register.answer]! * LENGTH),
  many: (packed: Uint8Array) => new SnoArray(packed),
  shown: (handle: Handle) => ({ partition: partitionOf(handle) }),
} as const;

/** The parameters for one ID. */
type GenerateParameters = [metabyte?: number];

/** All generators that belong to this copy of the package. */
const generators = /* @__PURE__ */ new WeakSet<Generator>();

/**
 * A generator of sno IDs. It uses one partition as its worker ID. After one clock rollback, it continues without waiting. If a
 * second rollback follows too soon, it waits until the clock has caught up.
 *
 * A generator belongs to the thread that created it, so it can be neither cloned nor sent to a worker.
 *
 * ```js
 * const ids = new sno.Generator({ partition: 7, metabyte: 1 });
 * sno.parse(ids.generate()).partition; // 7
 * ```
 */
export class Generator<Metabyte extends number = number> extends WindowGenerator<GenerateParameters, SnoId, SnoArray> {
  static override readonly name: string = "Generator";

  /**
   * Returns a new ID with the given metabyte (0..255) or, by default, the generator's metabyte.
   *
   * This is a property of each generator, not a method of the class, so that you can detach it and call it as a plain function.
   * The property also prevents the generator from being cloned.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt` if no ID became available within `maxWait`;
   * `lease_not_started` before the window starts; `lease_expired` after it ends; `time_out_of_range` if the time is before 2010
   * or after 2079; `clock_failed` with the `cause` if the clock fails; `generator_closed` if the generator is closed;
   * `invalid_type` or `out_of_range` if the metabyte is invalid.
   */
  declare readonly generate: GenerateFunction<Metabyte>;

  readonly #handle: Handle;
  /** Requests random bytes before the first ID is generated, if the generator needs them. */
  readonly #seed: () => void;
  readonly #ready: (metabyte: unknown) => Machine;

  /**
   * Creates a generator. Without an explicit partition, the generator picks a random partition when it generates its first
   * ID.
   *
   * With an explicit partition, a process has one live generator: equal options return another handle on it, and
   * {@link Generator.close} closes it for all handles. The metabyte belongs to the handle.
   *
   * The process emits a warning for a generator with a random partition if `POLYFLAKE_LEASE` or `POLYFLAKE_WORKER_ID`
   * is set, because another process may have leased that partition.
   *
   * @throws {PolyflakeError} `invalid_type`, `invalid_length`, `unknown_field` or `out_of_range` if an option is invalid, in
   * which case `field` names the option; `time_out_of_range` if the window is outside the format's time range;
   * `worker_id_in_use` if a live generator has the partition and other options, one of which `field` names.
   */
  constructor(options?: GeneratorOptions<Metabyte>);
  constructor(options: unknown = {}, origin?: unknown) {
    const { how, snapshot } = origin instanceof Origin ? origin : new Origin(0);
    const { shared, own, clock, sharing: compared, metabyte, leases, lease, times } = readSettings(options, how);
    const restored = how === 0 ? [] : numbersOf(snapshot);
    const [, high, low] = restored;
    const sharing: Sharing | undefined =
      leases || !compared
        ? undefined
        : {
            scheme: "sno",
            worker: `${high === undefined ? own.partition : (high << 8) | low!}`,
            option: "partition",
            options: how === 0 ? compared : undefined,
            ends: shared.windowEnd,
          };
    const m = machine();
    // The backend uses the shared partition table even if this generator's partition is explicit, so that no default
    // generator picks the same partition.
    const isLent = lendPartitionTable(m);
    // Under a lease, the addon starts each tick at a random sequence number. The wasm backend does not, because copies of a
    // process would use the same random bytes.
    const start = lease && m.kind === "native" ? 3 : how;
    const build = (partition = own.partition, windowStart = shared.windowStart, windowEnd = shared.windowEnd) => {
      const numbers = [start, own.metabyte, partition, own.sequenceMin, own.sequenceMax, Number(isLent), ...restored];
      const write = (): void => putOptions(m, { ...shared, windowStart, windowEnd }, numbers);
      // A table that another copy of the package owns belongs to this thread.
      const ofProcess = isLent ? undefined : sharing;
      return runWithDates(times, () => new Handle(m, write, m.calls.snoBuild, clock, ofProcess));
    };
    const handle = lease
      ? createLeasedHandle(lease, { settings: { family: "sno" }, clock, build })
      : shareHandle(m, sharing, build);
    if (leases) warnWithoutLease();
    let isSeeded = !(leases && isLent);
    if (!isSeeded) prepareEntropy();
    // Request random bytes before reading the clock. In a worker's global scope, neither random bytes nor the time are
    // available, but only the request for random bytes reports the problem.
    const seed = (): void => {
      if (!isSeeded) randomBytes(1);
      isSeeded = true;
    };
    const ready = (given: unknown): Machine => {
      seed();
      const m = handle.ready();
      m.numbers[register.parameter] = given === undefined ? metabyte : checkInteger(given, "metabyte");
      return m;
    };
    const one = (m: Machine) => m.text(0) as SnoId;
    super(handle, { ...FAMILY, ready, next: m.maker("snoGenerate", one, !clock), one });
    this.#handle = handle;
    this.#seed = seed;
    this.#ready = ready;
    generators.add(this);
  }

  /**
   * Creates a generator that continues from the snapshot of a closed generator, with the same partition and bounds. Restore a
   * snapshot only once.
   *
   * @throws {PolyflakeError} the same errors as the constructor, and `worker_id_in_use` as long as any generator with the
   * partition is live; `missing_field` if a member is missing; `out_of_range` if no generator could have produced the snapshot.
   */
  static restore<M extends number>(snapshot: Snapshot, options: RestoreOptions<M> = {}): Generator<M> {
    return Generator.#from(options, new Origin(1, snapshot));
  }

  /**
   * Creates a generator that continues from a snapshot of the original Go library. It reproduces that library's quirks: bounds
   * in the wrong order are swapped, and an upper bound of 0 is read as 65535.
   *
   * @throws {PolyflakeError} the same errors as {@link Generator.restore}.
   */
  static importOriginal<M extends number>(snapshot: Snapshot, options: RestoreOptions<M> = {}): Generator<M> {
    return Generator.#from(options, new Origin(2, snapshot));
  }

  static #from<M extends number>(options: RestoreOptions<M>, origin: Origin): Generator<M> {
    return new (Generator as unknown as new (options: RestoreOptions<M>, origin: Origin) => Generator<M>)(
      options,
      origin,
    );
  }

  /**
   * Returns an ID with an explicit creation time, which can be inside or outside the window. The time is a Date or integer Unix
   * milliseconds.
   *
   * Use it, for example, for existing records that already have a time. These IDs are not guaranteed to be unique, because
   * their sequence numbers wrap around silently. Generate only a few of them at a time.
   *
   * @throws {PolyflakeError} `invalid_type` if the time has the wrong type; `time_out_of_range` if the format cannot represent
   * the time; `generator_closed` if the generator is closed.
   */
  generateAt(at: Date | number): SnoId<Metabyte>;
  generateAt<M extends number>(at: Date | number, metabyte: M): SnoId<M>;
  generateAt(at: Date | number, metabyte: number | undefined): SnoId;
  generateAt(at: Date | number, metabyte?: number): SnoId<never> {
    attached(isObject(this) && #handle in this);
    rejectLeased(this.#handle);
    const unixMs = checkTime(at, "at");
    const m = this.#ready(metabyte);
    m.numbers[register.value] = unixMs;
    runWithDates([at], () => this.#handle.check(m.calls.snoGenerateAt()));
    return m.text(0) as SnoId<never>;
  }

  /** Behaves like {@link AnyGenerator.tryGenerate}. */
  override tryGenerate(): SnoId<Metabyte>;
  override tryGenerate<M extends number>(metabyte: M): SnoId<M>;
  override tryGenerate(metabyte: number | undefined): SnoId;
  override tryGenerate(metabyte?: number): SnoId<never> {
    attached(isObject(this) && #handle in this);
    return super.tryGenerate(metabyte) as SnoId<never>;
  }

  /** Behaves like {@link AnyGenerator.generateAsync}. */
  override generateAsync(): Promise<SnoId<Metabyte>>;
  override generateAsync<M extends number>(metabyte: M, options?: AsyncOptions): Promise<SnoId<M>>;
  override generateAsync(metabyte: number | undefined, options?: AsyncOptions): Promise<SnoId>;
  override async generateAsync(metabyte?: number, options?: AsyncOptions): Promise<SnoId<never>> {
    attached(isObject(this) && #handle in this);
    return (await super.generateAsync(metabyte, options)) as SnoId<never>;
  }

  /**
   * The partition, or undefined if the generator has not picked one yet. A random partition is picked when the first ID is
   * generated.
   */
  get partition(): number | undefined {
    attached(isObject(this) && #handle in this);
    return partitionOf(this.#handle);
  }

  /**
   * Returns the generator's current statistics. They cannot be used to restore it.
   *
   * @throws {PolyflakeError} `clock_failed` if the clock fails; `time_out_of_range` if the format cannot represent the clock's
   *   time.
   */
  stats(): Stats {
    attached(isObject(this) && #handle in this);
    return readStats(this.#handle.call("generatorStats"));
  }

  /**
   * Closes the generator, for all handles on it, and returns a snapshot from which it can be restored. A second call throws
   * instead of returning the snapshot again.
   *
   * @throws {PolyflakeError} `generator_closed` if the generator is already closed.
   */
  close(): Snapshot {
    attached(isObject(this) && #handle in this);
    rejectLeased(this.#handle);
    this.#seed();
    return readSnapshot(this.#handle.call("generatorClose"));
  }
}

let sharedGenerator: Generator | undefined;

/**
 * Returns the generator that {@link generate} uses. If the generator has a lease, a different copy of the package may have
 * created it.
 */
const getDefaultGenerator = (): Generator =>
  (sharedGenerator ??= defaultGenerator("sno", (options) => new Generator(options)));

/** Returns the array, converted to this copy's class if a different copy of the package created it. */
const toOwnArray = (ids: SnoArray): SnoArray => (ids instanceof SnoArray ? ids : new SnoArray((ids as SnoArray).bytes));

/**
 * Returns a new ID with the given metabyte (0..255; 0 by default) from this thread's default generator.
 *
 * The default generator has a randomly assigned partition, unless {@link setDefaultGenerator} has set a different generator.
 * Each copy of the package, such as a bundled one or a second version, has its own default generator. They all have different
 * partitions, because all copies in a realm assign partitions from one shared table.
 *
 * @throws {PolyflakeError} the same errors as {@link Generator.generate}.
 */
export function generate(): SnoId<0>;
export function generate<M extends number>(metabyte: M): SnoId<M>;
export function generate(metabyte: number | undefined): SnoId;
export function generate(metabyte?: number): SnoId<never> {
  return getDefaultGenerator().generate(metabyte) as SnoId<never>;
}

/** Returns `count` new IDs from the default generator. See {@link Generator.generateMany}. */
export function generateMany(count: number, metabyte?: number): SnoArray {
  return toOwnArray(getDefaultGenerator().generateMany(count, metabyte));
}

/** Resolves to a new ID from the default generator, without blocking the thread. See {@link Generator.generateAsync}. */
export function generateAsync(): Promise<SnoId<0>>;
export function generateAsync<M extends number>(metabyte: M, options?: AsyncOptions): Promise<SnoId<M>>;
export function generateAsync(metabyte: number | undefined, options?: AsyncOptions): Promise<SnoId>;
export function generateAsync(metabyte?: number, options?: AsyncOptions): Promise<SnoId<never>> {
  return getDefaultGenerator().generateAsync(metabyte, options) as Promise<SnoId<never>>;
}

/**
 * Resolves to `count` new IDs from the default generator, without blocking the thread. See {@link Generator.generateManyAsync}.
 */
export function generateManyAsync(count: number, metabyte?: number, options?: AsyncOptions): Promise<SnoArray> {
  return getDefaultGenerator().generateManyAsync(count, metabyte, options).then(toOwnArray);
}

/**
 * Sets this thread's default generator, which {@link generate} uses. Use it, for example, to set a clock in tests, or to
 * configure the generator for a whole program.
 *
 * Pass `undefined` to create a new default generator with a new partition. `generate` stops using the previous generator, but
 * code that holds a reference to it can still use it.
 *
 * ```js
 * sno.setDefaultGenerator(new sno.Generator({ partition: 7, testClock: () => Date.now() })); // sees mocked time
 * sno.generate();
 * sno.setDefaultGenerator(undefined);
 * ```
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is undefined or a generator of this copy of the package.
 */
export function setDefaultGenerator(generator: Generator | undefined): void {
  sharedGenerator = generator === undefined ? undefined : checkGenerator(generators, generator);
}
