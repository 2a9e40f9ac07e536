import { attached, checkBoolean, checkGenerator, checkInteger, isObject, runWithDates } from "../checks.js";
import type { HotGuidId } from "../decode/hotguid.js";
import { prepareEntropy } from "../entropy.js";
import { WindowGenerator } from "../generator.js";
import { Handle } from "../handle.js";
import type { AsyncOptions } from "../later.js";
import { createLeasedHandle, defaultGenerator, readLease, rejectLeased } from "../leased.js";
import { MAX_COUNT, type Machine } from "../machine.js";
import { putOptions, readSharedSettings, WINDOW_OPTIONS, type WindowOptions } from "../options.js";
import { BATCH, register } from "../protocol.js";
import { freshBytes } from "../restores.js";
import { HotGuidArray, LENGTH, machine, TEXT_LENGTH } from "./ids.js";

/** Options for a generator. */
export type GeneratorOptions = WindowOptions & {
  /**
   * Whether to generate version 8 UUIDs, which strict validators accept, instead of the compatible form. {@link uuid8Parts}
   * reads them. The version and the variant take up 6 of the 40 random bits. With 18,583 generators that are active in the same
   * second, the chance that any two have the same remaining 34 bits is 1%.
   */
  uuid8?: boolean;
};

const OPTIONS = ["uuid8", ...WINDOW_OPTIONS] as const;

/** A generator's statistics at one point in time. */
export interface Stats {
  /** The 5 random bytes that identify the generator. They are undefined before the first ID. */
  machine: Uint8Array | undefined;
  /** The latest second in which an ID was generated, as a Unix timestamp. It is undefined before the first ID. */
  lastSecond: number | undefined;
  /** The number of IDs generated in `lastSecond`. */
  len: number;
  /** `true` if the generator is closed. */
  closed: boolean;
}

/** The properties that all generators of the format share. */
const FAMILY = {
  name: "hotguid",
  size: LENGTH,
  batch: BATCH,
  most: MAX_COUNT,
  parameters: 1,
  packed: (m: Machine) => m.bytes.slice(0, LENGTH),
  filled: (m: Machine) => m.bytes.subarray(0, m.numbers[register.answer]! * LENGTH),
  many: (packed: Uint8Array) => new HotGuidArray(packed),
} as const;

/**
 * Returns the machine bytes for a leased worker ID, followed by a random start value for the counter. The last two machine
 * bytes are 0, because a version 8 UUID stores its version and variant there.
 */
const createIdentity = (number: number): Uint8Array =>
  Uint8Array.of(number >> 16, number >> 8, number, 0, 0, ...freshBytes(3));

/** All generators that belong to this copy of the package. */
const generators = /* @__PURE__ */ new WeakSet<Generator>();

/**
 * A generator of Hot Guids. It uses 5 random bytes as its worker ID.
 *
 * The generator picks the bytes when it generates its first ID. With 148,664 generators that are active in the same second,
 * the chance that any two have the same random bytes is 1%. Two such generators generate a duplicate ID only if their
 * counters collide, too. In each second, 8,388,608 to 16,777,216 IDs are available, because the counter starts at a random
 * value. The native addon picks a new start for each second, and WebAssembly uses one start for all seconds. When the clock
 * moves backwards, the generator continues in the latest second that it has used.
 *
 * A generator belongs to the thread that created it, so it can be neither cloned nor sent to a worker.
 *
 * ```js
 * const ids = new hotguid.Generator();
 * hotguid.shardKey(ids.generate(7)); // 7
 * ```
 */
export class Generator extends WindowGenerator<[shardKey?: number], HotGuidId, HotGuidArray> {
  static override readonly name: string = "Generator";

  /**
   * Returns a new ID with a shard key of your choice (0..4294967295; 0 by default).
   *
   * This is a property of each generator, not a method of the class, so that you can detach it and call it as a plain function.
   * The property also prevents the generator from being cloned.
   *
   * @throws {PolyflakeError} `sequence_exhausted` with `retryAt` if the counter reached its last value in the current
   * second and no ID became available within `maxWait`; `lease_not_started` before the window starts; `lease_expired` after
   * it ends; `time_out_of_range` if the time is before 1970 or after 2106; `clock_failed` with the `cause` if the clock
   * fails; `entropy_unavailable` if the operating system provides no random bytes; `generator_closed` if the generator is
   * closed; `invalid_type` or `out_of_range` if the shard key is invalid.
   */
  declare readonly generate: (shardKey?: number) => HotGuidId;

  readonly #handle: Handle;

  /**
   * Creates a generator.
   *
   * @throws {PolyflakeError} `invalid_type`, `unknown_field` or `out_of_range` if an option is invalid, in which case `field`
   * names the option; `time_out_of_range` if the window is outside the format's time range.
   */
  constructor(options: GeneratorOptions = {}) {
    const { shared, clock, times, given } = readSharedSettings(options, OPTIONS);
    const m = machine();
    const uuid8 = Number(checkBoolean(given.uuid8, "uuid8"));
    const lease = readLease(given, ["window"]);
    const build = (number?: number, windowStart = shared.windowStart, windowEnd = shared.windowEnd) => {
      const write = (): void => putOptions(m, { ...shared, windowStart, windowEnd }, [uuid8]);
      const built = runWithDates(times, () => new Handle(m, write, m.calls.hotguidBuild, clock));
      if (number !== undefined) {
        m.bytes.set(createIdentity(number));
        built.call("hotguidProvide");
      }
      return built;
    };
    const handle = lease ? createLeasedHandle(lease, { settings: { family: "hotguid" }, clock, build }) : build();
    let settled: number | undefined;
    prepareEntropy();
    // The addon requests random bytes from the system itself. For the wasm backend, this function requests them when the
    // first ID is generated, because random bytes are not available in a worker's global scope. After a restore, the
    // function requests new random bytes.
    const settle = (): void => {
      if (settled === m.restores) return;
      let [bytes, seen]: [Uint8Array?, number?] = [];
      do {
        seen = m.restores;
        bytes = freshBytes(8);
        handle.ready();
        // Discard bytes that were read before a restore, because another copy of the process has the same bytes.
      } while (seen !== m.restores);
      m.bytes.set(bytes);
      handle.check(m.calls.hotguidProvide());
      settled = seen;
    };
    if (!lease && m.kind === "wasm") handle.settle = settle;
    const ready = (shardKey: unknown): Machine => {
      handle.ready();
      handle.settle?.();
      m.numbers[register.parameter] = shardKey === undefined ? 0 : checkInteger(shardKey, "shardKey");
      return m;
    };
    const one = (m: Machine) => m.ascii(0, TEXT_LENGTH) as HotGuidId;
    super(handle, { ...FAMILY, ready, next: m.maker("hotguidGenerate", one, !clock), one });
    this.#handle = handle;
    generators.add(this);
  }

  /** Returns the generator's current statistics. */
  stats(): Stats {
    attached(isObject(this) && #handle in this);
    const m = this.#handle.call("generatorStats");
    const [lastSecond, len, closed, isDrawn] = m.answer();
    return {
      machine: isDrawn === 1 ? m.bytes.slice(0, 5) : undefined,
      lastSecond: Number.isNaN(lastSecond) ? undefined : lastSecond,
      len,
      closed: closed === 1,
    };
  }

  /**
   * Closes the generator. You do not have to save any state, because the next generator picks new random bytes.
   *
   * @throws {PolyflakeError} `generator_closed` if the generator is already closed.
   */
  close(): void {
    attached(isObject(this) && #handle in this);
    rejectLeased(this.#handle);
    this.#handle.call("generatorClose");
  }
}

let sharedGenerator: Generator | undefined;

/**
 * Returns the generator that {@link generate} uses. If the generator has a lease, a different copy of the package may have
 * created it.
 */
const getDefaultGenerator = (): Generator =>
  (sharedGenerator ??= defaultGenerator("hotguid", (options) => new Generator(options)));

/** Returns the array, converted to this copy's class if a different copy of the package created it. */
const toOwnArray = (ids: HotGuidArray): HotGuidArray =>
  ids instanceof HotGuidArray ? ids : new HotGuidArray((ids as HotGuidArray).bytes);

/**
 * Returns a new ID from this thread's default generator, with a shard key of your choice (0..4294967295; 0 by default).
 *
 * {@link setDefaultGenerator} replaces the default generator. Each copy of the package, such as a bundled one or a second
 * version, has its own default generator with its own random bytes.
 *
 * @throws {PolyflakeError} the same errors as {@link Generator.generate}.
 */
export function generate(shardKey?: number): HotGuidId {
  return getDefaultGenerator().generate(shardKey);
}

/** Returns `count` new IDs from the default generator. See {@link Generator.generateMany}. */
export function generateMany(count: number, shardKey?: number): HotGuidArray {
  return toOwnArray(getDefaultGenerator().generateMany(count, shardKey));
}

/** Resolves to a new ID from the default generator, without blocking the thread. See {@link Generator.generateAsync}. */
export function generateAsync(shardKey?: number, options?: AsyncOptions): Promise<HotGuidId> {
  return getDefaultGenerator().generateAsync(shardKey, options);
}

/**
 * Resolves to `count` new IDs from the default generator, without blocking the thread. See {@link Generator.generateManyAsync}.
 */
export function generateManyAsync(count: number, shardKey?: number, options?: AsyncOptions): Promise<HotGuidArray> {
  return getDefaultGenerator().generateManyAsync(count, shardKey, options).then(toOwnArray);
}

/**
 * Sets this thread's default generator, which {@link generate} uses. Use it, for example, to set a clock in tests, or to
 * configure the generator for a whole program.
 *
 * Pass `undefined` to create a new default generator with new random bytes. `generate` stops using the previous generator, but
 * code that holds a reference to it can still use it.
 *
 * ```js
 * hotguid.setDefaultGenerator(new hotguid.Generator({ testClock: () => Date.now() })); // sees mocked time
 * hotguid.generate();
 * hotguid.setDefaultGenerator(undefined);
 * ```
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is undefined or a generator of this copy of the package.
 */
export function setDefaultGenerator(generator: Generator | undefined): void {
  sharedGenerator = generator === undefined ? undefined : checkGenerator(generators, generator);
}
