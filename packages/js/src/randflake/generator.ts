import { attached, isObject, optionalInteger, within } from "../checks.js";
import { Kept } from "../kept.js";
import { type AsyncOptions, fillLater, type Signal, signalOf } from "../later.js";
import { BATCH, MOST, type Next } from "../machine.js";
import { SHARED, type SharedOptions, sharedSettings } from "../options.js";
import { fillBy, fillNow } from "../packed.js";
import { enroll } from "../pool.js";
import { putSecret } from "../secret.js";
import { type Claim, claim } from "../twins.js";
import { inspect } from "./codec.js";
import { encodeText, type Parts, RandflakeArray } from "./ids.js";
import { Grant, slotsOf } from "./grant.js";
import { machine } from "./machine.js";

/** Options for a generator. */
export interface GeneratorOptions extends SharedOptions {
  /** What to do when a second's IDs are used up, or the clock is behind the last second used; to wait by default. */
  onExhausted?: "wait" | "error";
  /**
   * The last second that the grant was used in, in Unix seconds, as {@link Generator.close} told: no ID is made in it or
   * before it. A grant that served a generator must not serve another one without this.
   */
  resumeAfter?: number;
}

/** Figures of a generator, at one moment. */
export interface Stats {
  /** The last second used, in Unix seconds; undefined before the first ID. */
  lastSecond: number | undefined;
  /** How many IDs of that second are used up: given out, or made ahead for the next calls. */
  len: number;
  /** Whether the generator was closed. */
  closed: boolean;
}

/**
 * Makes Randflake IDs under one grant.
 *
 * It belongs to the thread that made it: it can be neither cloned nor sent to a worker. The secret is copied and never shown;
 * any 16 bytes are taken, zeros too, so take random ones.
 *
 * ```js
 * const grant = new randflake.Grant(42, 1_730_000_000, 2_803_741_824);
 * const ids = new randflake.Generator(grant, secret);
 * ids.inspect(ids.generate()).node; // 42
 * ```
 */
export class Generator {
  static readonly name: string = "Generator";

  /**
   * One new ID.
   *
   * A function of the object's own: it may be taken off and called alone, and it keeps the generator from being cloned.
   *
   * @throws {PolyflakeError} `lease_not_started` with `retryAt`, `lease_expired`; `clock_behind`, `sequence_exhausted` with `retryAt`,
   * at once or after a wait of at most `maxWait`; `clock_failed` with the `cause`; `generator_closed`.
   */
  readonly generate: () => bigint;

  readonly #kept: Kept;
  readonly #claim: Claim;
  readonly #nextText: Next<string>;

  /**
   * A generator. Where another one of this thread, still in use, has the same nodes, secret and a part of the time, a warning of the
   * process says so: they repeat each other's IDs.
   *
   * @throws {PolyflakeError} `invalid_type`, `unknown_field` or `out_of_range` with the option as `field`; `invalid_secret` unless
   * the secret has 16 bytes.
   */
  constructor(grant: Grant, secret: Uint8Array, options: GeneratorOptions = {}) {
    const { slots, clock, given } = sharedSettings(options, ["resumeAfter", ...SHARED]);
    const resumeAfter = optionalInteger(given.resumeAfter, "resumeAfter");
    const nodes = slotsOf(grant);
    const m = machine();
    const length = putSecret(m, secret, "secret");
    this.#kept = new Kept(this, m, "randflakeBuild", [...slots, ...nodes, resumeAfter, length], clock);
    const next = m.maker("randflakeGenerate", (m) => m.bigints[0]!);
    this.generate = () => {
      this.#kept.ready();
      return next() ?? this.#kept.refused();
    };
    this.#nextText = m.maker("randflakeGenerateText", (m) => m.ascii(0, m.numbers[0]!));
    const fill = (count: number, _: unknown, made: number, waits: boolean) => this.#fill(count, made, waits);
    const later = (_: unknown, signal: Signal | undefined, made?: number) => this.#later(signal, made);
    this.#claim = claim(this.#kept, `randflake ${nodes.slice(0, 2)}`, nodes.slice(2), "randflakePool", "nodes, secret");
    enroll(this, { kept: this.#kept, fill, now: this.#now.bind(this), later });
  }

  /**
   * The text of one new ID.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}.
   */
  generateText(): string {
    attached(isObject(this) && #kept in this);
    this.#kept.ready();
    return this.#nextText() ?? this.#kept.refused();
  }

  /**
   * Many new IDs, at most 16,777,216 at once.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}, with `written`: how many were made before; `invalid_type`,
   * `out_of_range` for the count.
   */
  generateMany(count: number): RandflakeArray {
    attached(isObject(this) && #kept in this);
    const many = new BigInt64Array(within(count, "count", MOST));
    fillBy(new Uint8Array(many.buffer), 8, BATCH, (count, made) => this.#fill(count, made, true));
    return new RandflakeArray(many);
  }

  /**
   * One new ID if there is one now. It never waits, whatever the options say.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate(): bigint {
    attached(isObject(this) && #kept in this);
    return this.#now();
  }

  /**
   * The text of one new ID if there is one now.
   *
   * @throws {PolyflakeError} as {@link tryGenerate}.
   */
  tryGenerateText(): string {
    attached(isObject(this) && #kept in this);
    return encodeText(this.tryGenerate());
  }

  /**
   * The new IDs that there are now, up to a number of at most 16,777,216. It never waits: there may be fewer, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number): RandflakeArray {
    attached(isObject(this) && #kept in this);
    const many = new Uint8Array(within(count, "count", MOST) * 8);
    const made = fillNow(many, 8, BATCH, (count, made) => this.#fill(count, made, false));
    return new RandflakeArray(new BigInt64Array(made.buffer as ArrayBuffer));
  }

  /**
   * One new ID, in time.
   *
   * The thread is free while the call waits, by the rules of {@link Generator.generate}: `onExhausted`, `maxWait` and `onStall`.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}; the reason of a signal that is aborted. All of it rejects.
   */
  async generateAsync(options: AsyncOptions = {}): Promise<bigint> {
    attached(isObject(this) && #kept in this);
    const id = await this.#later(signalOf(options));
    return new RandflakeArray(new BigInt64Array(id.buffer as ArrayBuffer)).at(0)!;
  }

  /**
   * The text of one new ID, in time.
   *
   * @throws {PolyflakeError} as {@link Generator.generateAsync}.
   */
  async generateTextAsync(options: AsyncOptions = {}): Promise<string> {
    attached(isObject(this) && #kept in this);
    return encodeText(await this.generateAsync(options));
  }

  /**
   * Many new IDs, at most 16,777,216 at once, in time. The thread is free now and then, too, while many are made; a call that is
   * aborted loses what it has made.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}; the reason of a signal that is aborted. All of it rejects.
   */
  async generateManyAsync(count: number, options: AsyncOptions = {}): Promise<RandflakeArray> {
    attached(isObject(this) && #kept in this);
    const signal = signalOf(options);
    const many = new Uint8Array(within(count, "count", MOST) * 8);
    const some = (count: number, made: number) => this.#fill(count, made, false);
    const one = (made: number) => this.#later(signal, made);
    await fillLater(many, 8, BATCH, { some, one }, signal);
    return new RandflakeArray(new BigInt64Array(many.buffer as ArrayBuffer));
  }

  /** The grant, as far as it was extended. */
  get grant(): Grant {
    attached(isObject(this) && #kept in this);
    const [first, last, start, end] = this.#kept.call("randflakeHeldGrant").numbers as unknown as number[];
    return new Grant([first!, last!], start!, end!);
  }

  /**
   * Extends the grant; one that ends no later changes nothing.
   *
   * @throws {PolyflakeError} `lease_mismatch` unless both have the same nodes and start; `invalid_type`, `out_of_range`.
   */
  extendGrant(longer: Grant): void {
    attached(isObject(this) && #kept in this);
    const slots = slotsOf(longer);
    this.#kept.machine.numbers.set(slots, 1);
    this.#kept.call("randflakeExtendGrant");
    this.#claim.end = Math.max(this.#claim.end, slots[3]!);
  }

  /**
   * The fields of an ID. That they look like some says nothing: every number decrypts to something.
   *
   * @throws {PolyflakeError} `invalid_type` for other than a bigint; `out_of_range` outside signed 64 bits.
   */
  inspect(id: bigint): Parts {
    attached(isObject(this) && #kept in this);
    return inspect(this.#kept, id);
  }

  /** Figures of now. */
  stats(): Stats {
    attached(isObject(this) && #kept in this);
    const [last, len, closed] = this.#kept.call("randflakeStats").numbers as unknown as number[];
    return { lastSecond: secondOf(last!), len: len!, closed: closed === 1 };
  }

  /**
   * Ends the generator, and tells the last second used, in Unix seconds: what the grant's next generator must resume after.
   * Undefined if there was none.
   *
   * @throws {PolyflakeError} `generator_closed` if it was.
   */
  close(): number | undefined {
    attached(isObject(this) && #kept in this);
    const last = secondOf(this.#kept.call("randflakeClose").numbers[0]!);
    this.#claim.end = -Infinity;
    return last;
  }

  /** One ID if there is one now. */
  #now(): bigint {
    return this.#kept.call("randflakeTryGenerate").bigints[0]!;
  }

  /** Makes one ID, waiting for it if need be, and gives its bytes. */
  #later(signal: Signal | undefined, made?: number): Promise<Uint8Array> {
    return this.#kept.later("randflakeOneAsync", (m) => m.bytes.slice(0, 8), signal, made);
  }

  /** Makes so many IDs, in memory to be copied at once; those there are for now, where it may not wait. */
  #fill(count: number, made: number, waits: boolean): Uint8Array {
    const m = this.#kept.ready();
    m.numbers[1] = count;
    this.#kept.check(waits ? m.calls.randflakeFill() : m.calls.randflakeFillNow(), made);
    return m.bytes.subarray(0, m.numbers[0]! * 8);
  }
}

function secondOf(slot: number): number | undefined {
  return Number.isNaN(slot) ? undefined : slot;
}
