import { attached, checkOptionalInteger, isObject } from "../checks.js";
import type { GuardedClock } from "../clock.js";
import type { RandflakeId, RandflakeText } from "../decode/randflake.js";
import { AnyGenerator } from "../generator.js";
import { Handle } from "../handle.js";
import type { AsyncOptions } from "../later.js";
import {
  type AnyLease,
  createLeasedHandle,
  isLease,
  leaseUnavailableError,
  readLease,
  rejectLeased,
} from "../leased.js";
import { MAX_COUNT, type Machine, type NextFunction } from "../machine.js";
import { putOptions, readSharedSettings, SHARED_OPTIONS, type SharedOptions } from "../options.js";
import { BATCH, register } from "../protocol.js";
import { copySecret, putSecret } from "../secret.js";
import { shareHandle } from "../sharing.js";
import { toHex } from "../show.js";
import { fingerprint, inspect } from "./codec.js";
import { Grant, numbersOf } from "./grant.js";
import { encodeText, machine, type Parts, RandflakeArray } from "./ids.js";

/** Options for a generator. */
export interface GeneratorOptions extends SharedOptions {
  /**
   * What to do when all IDs in a second are used up, or when the clock is behind the last second used. The default is
   * `"wait"`.
   */
  onExhausted?: "wait" | "error";
  /**
   * The last second in which the previous generator used the grant, as a Unix timestamp. {@link Generator.close} returned this
   * value. All new IDs belong to later seconds. After one generator has used a grant, another generator must not use it without
   * this option.
   */
  resumeAfter?: number;
}

/** A generator's statistics at one point in time. */
export interface Stats {
  /** The last second used, as a Unix timestamp; undefined before the first ID. */
  lastSecond: number | undefined;
  /** The number of IDs allocated in `lastSecond`. These IDs have been returned or are reserved for the next calls. */
  len: number;
  /** `true` if the generator is closed. */
  closed: boolean;
}

/** The properties that all generators of the format share. */
const FAMILY = {
  name: "randflake",
  size: 8,
  batch: BATCH,
  most: MAX_COUNT,
  parameters: 0,
  packed: (m: Machine) => m.bytes.slice(0, 8),
  filled: (m: Machine) => m.bytes.subarray(0, m.numbers[register.answer]! * 8),
  many: (packed: Uint8Array) => new RandflakeArray(new BigInt64Array(packed.buffer as ArrayBuffer)),
} as const;

/**
 * A generator of Randflakes for one grant.
 *
 * A generator belongs to the thread that created it, so it can be neither cloned nor sent to a worker. The secret is copied and
 * never shown. Any 16 bytes are accepted, even zeros, so generate the secret at random.
 *
 * ```js
 * const grant = new randflake.Grant(42, 1_730_000_000, 2_803_741_824);
 * const ids = new randflake.Generator(grant, secret);
 * ids.inspect(ids.generate()).node; // 42
 * ```
 */
export class Generator extends AnyGenerator<[], RandflakeId, RandflakeArray> {
  static override readonly name: string = "Generator";

  /**
   * Returns a new ID.
   *
   * This is a property of each generator, not a method of the class, so that you can detach it and call it as a plain function.
   * The property also prevents the generator from being cloned.
   *
   * @throws {PolyflakeError} `lease_not_started` with `retryAt` before the grant starts; `lease_expired` after it ends;
   * `clock_behind` or `sequence_exhausted` with `retryAt` if no ID is available, immediately or after a wait of at most
   * `maxWait`; `clock_failed` with the `cause` if the clock fails; `generator_closed` if the generator is closed.
   */
  declare readonly generate: () => RandflakeId;

  readonly #handle: Handle;
  readonly #nextText: NextFunction<RandflakeText>;

  /**
   * Creates a generator.
   *
   * A process has one live generator for a node, secret and time span: equal arguments return another handle on it, and
   * {@link Generator.close} closes it for all handles. To use a longer grant, call {@link Generator.extendGrant}.
   *
   * @throws {PolyflakeError} `invalid_type`, `unknown_field` or `out_of_range` if an option is invalid, in which case `field`
   * names the option; `invalid_secret` unless the secret has 16 bytes; `worker_id_in_use` if a live generator has one of the
   * nodes and other options, one of which `field` names.
   */
  constructor(grant: Grant, secret: Uint8Array, options?: GeneratorOptions);
  /** Creates a generator whose grants a lease provides, so `resumeAfter` cannot be combined with it. */
  constructor(lease: AnyLease, secret: Uint8Array, options?: Omit<GeneratorOptions, "resumeAfter">);
  constructor(grant: Grant | AnyLease, secret: Uint8Array, options: GeneratorOptions = {}) {
    const { shared, clock, sharing, given } = readSharedSettings(options, ["resumeAfter", ...SHARED_OPTIONS]);
    const lease = isLease(grant) ? readLease({ ...given, lease: grant }, ["resumeAfter"]) : undefined;
    const resumeAfter = checkOptionalInteger(given.resumeAfter, "resumeAfter");
    const granted = lease ? PLACEHOLDER_GRANT : numbersOf(grant);
    const m = machine();
    const [firstNode, lastNode, start, end] = granted;
    const identity =
      sharing && !lease
        ? {
            scheme: `randflake ${fingerprint(secret)}`,
            worker: `${firstNode} ${lastNode}`,
            isRange: firstNode !== lastNode,
            option: "grant",
            options: { grant: `${start} ${end}`, resumeAfter: `${resumeAfter}`, ...sharing },
            ends: end * 1000,
          }
        : undefined;
    const build = (of: unknown, grant: typeof granted) => {
      const length = putSecret(m, of, "secret");
      const write = (): void => {
        putOptions(m, lease ? { ...shared, beginning: 0 } : shared, [...grant, resumeAfter]);
        m.numbers[register.count] = length;
      };
      return new Handle(m, write, m.calls.randflakeBuild, clock, identity);
    };
    const handle = lease
      ? leasedGenerator(lease, secret, clock, build)
      : shareHandle(m, identity, () => build(secret, granted));
    const one = (m: Machine) => m.bigints[register.answer] as RandflakeId;
    super(handle, { ...FAMILY, ready: () => handle.ready(), next: m.maker("randflakeGenerate", one, !clock), one });
    this.#handle = handle;
    const text = (m: Machine) => m.ascii(0, m.numbers[register.answer]!) as RandflakeText;
    this.#nextText = m.maker("randflakeGenerateText", text, !clock);
  }

  /**
   * Returns a new ID as a string.
   *
   * @throws {PolyflakeError} the same errors as {@link Generator.generate}.
   */
  generateText(): RandflakeText {
    attached(isObject(this) && #handle in this);
    this.#handle.ready();
    return this.#nextText() ?? this.#handle.throwError();
  }

  /**
   * Returns a new ID as a string if one is available without waiting.
   *
   * @throws {PolyflakeError} the same errors as {@link AnyGenerator.tryGenerate}.
   */
  tryGenerateText(): RandflakeText {
    attached(isObject(this) && #handle in this);
    return encodeText(this.tryGenerate());
  }

  /**
   * Resolves to a new ID as a string.
   *
   * @throws {PolyflakeError} the same errors as {@link Generator.generateAsync}.
   */
  async generateTextAsync(options: AsyncOptions = {}): Promise<RandflakeText> {
    attached(isObject(this) && #handle in this);
    return encodeText(await this.generateAsync(options));
  }

  /** The grant, including its extensions. */
  get grant(): Grant {
    attached(isObject(this) && #handle in this);
    if (this.#handle.lease?.granted === false) throw leaseUnavailableError(this.#handle.lease, {});
    const [firstNode, lastNode, start, end] = this.#handle.call("randflakeHeldGrant").answer();
    return new Grant([firstNode, lastNode], start, end);
  }

  /**
   * Extends the grant. The call has no effect if the new grant does not end later.
   *
   * @throws {PolyflakeError} `lease_mismatch` unless both grants have the same nodes and start; `invalid_type` or
   * `out_of_range` if the argument is not a valid grant; `worker_id_in_use` if another generator uses a node in the added time.
   */
  extendGrant(longer: Grant): void {
    attached(isObject(this) && #handle in this);
    rejectLeased(this.#handle);
    const grant = numbersOf(longer);
    const write = (m: Machine): void => m.numbers.set(grant, register.value);
    this.#handle.extend(grant[3] * 1000, "randflakeExtendGrant", write);
  }

  /**
   * Returns the fields of an ID. Every 64-bit number decrypts to values that look like valid fields, so plausible fields do
   * not prove that the number is an ID.
   *
   * @throws {PolyflakeError} `invalid_type` unless the ID is a bigint; `out_of_range` unless it fits in a signed 64-bit
   * integer.
   */
  inspect(id: bigint): Parts {
    attached(isObject(this) && #handle in this);
    return inspect(this.#handle, id);
  }

  /** Returns the generator's current statistics. */
  stats(): Stats {
    attached(isObject(this) && #handle in this);
    const [lastSecond, len, closed] = this.#handle.call("generatorStats").answer();
    return { lastSecond: undefinedIfNaN(lastSecond), len, closed: closed === 1 };
  }

  /**
   * Closes the generator, for all handles on it, and returns the last second used, as a Unix timestamp, or undefined if no ID was generated. Pass the
   * result as `resumeAfter` to the next generator for the grant.
   *
   * @throws {PolyflakeError} `generator_closed` if the generator is already closed.
   */
  close(): number | undefined {
    attached(isObject(this) && #handle in this);
    rejectLeased(this.#handle);
    return undefinedIfNaN(this.#handle.call("generatorClose").answer()[0]);
  }
}

/** A placeholder grant, for a generator that never generates IDs. */
const PLACEHOLDER_GRANT: ReturnType<typeof numbersOf> = [0, 0, 1_730_000_000, 1_730_000_001];

/**
 * Creates the handle for a generator with a lease. The function copies the secret, because each grant requires a new
 * internal generator with the same secret.
 */
function leasedGenerator(
  lease: AnyLease,
  given: Uint8Array,
  clock: GuardedClock | undefined,
  build: (secret: Uint8Array, grant: typeof PLACEHOLDER_GRANT) => Handle,
): Handle {
  const secret = copySecret(given);
  return createLeasedHandle(lease, {
    settings: { family: "randflake", secret: toHex(secret) },
    clock,
    build: (number, start, end) => {
      if (Number.isNaN(start)) return build(secret, PLACEHOLDER_GRANT);
      return build(secret, [number, number, Math.ceil(start / 1000), Math.floor(end / 1000)]);
    },
  });
}

function undefinedIfNaN(second: number): number | undefined {
  return Number.isNaN(second) ? undefined : second;
}
