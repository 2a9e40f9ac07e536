import { attached, isObject, optionalInteger, within } from "../checks.js";
import type { RandflakeId, RandflakeText } from "../decode/randflake.js";
import { Handle } from "../handle.js";
import { type AsyncOptions, fillLater, type Signal, signalOf } from "../later.js";
import { type MachineFor, MOST, type Next } from "../machine.js";
import { SHARED, type SharedOptions, sharedSettings } from "../options.js";
import { fillBy, fillNow } from "../packed.js";
import {
  answerSlots,
  BATCH,
  grantSlots,
  madeSlots,
  manySlots,
  optionsSlots,
  randflakeCloseSlots,
  randflakeOptionsSlots,
  randflakeStatsSlots,
  secretSlots,
} from "../protocol.js";
import { putSecret } from "../secret.js";
import { nameOf, nothingOf, present } from "../show.js";
import { put, take } from "../slots.js";
import { type Claim, claim } from "../twins.js";
import { inspect } from "./codec.js";
import { Grant, numbersOf } from "./grant.js";
import { encodeText, machine, type Parts, RandflakeArray } from "./ids.js";

/** Options for a generator. */
export interface GeneratorOptions extends SharedOptions {
  /** Reaction to a second whose IDs are used up, or to a clock behind the last second used: `"wait"` by default. */
  onExhausted?: "wait" | "error";
  /**
   * The last second in which the grant was used, in Unix seconds, as {@link Generator.close} returned it: no ID is made in it or
   * before it. A grant that served one generator must not serve another without this option.
   */
  resumeAfter?: number;
}

/** Figures of a generator at one moment. */
export interface Stats {
  /** The last second used, in Unix seconds; undefined before the first ID. */
  lastSecond: number | undefined;
  /** Number of IDs used up in that second: returned, or made ahead for the next calls. */
  len: number;
  /** `true` once the generator was closed. */
  closed: boolean;
}

/**
 * Makes Randflake IDs under one grant.
 *
 * A generator belongs to the thread that made it: it can be neither cloned nor sent to a worker. The secret is copied and never
 * shown. Any 16 bytes are accepted, even zeros, so use random ones.
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
   * A property of each object, not of the class: it can be taken off and called alone, and it keeps the generator from being
   * cloned.
   *
   * @throws {PolyflakeError} `lease_not_started` with `retryAt`, `lease_expired`; `clock_behind`, `sequence_exhausted` with `retryAt`,
   * at once or after a wait of at most `maxWait`; `clock_failed` with the `cause`; `generator_closed`.
   */
  declare readonly generate: () => RandflakeId;

  readonly #handle: Handle;
  readonly #claim: Claim;
  readonly #nextText: Next<RandflakeText>;

  /**
   * A generator. If another one of this thread, still in use, has the same nodes and secret and their times overlap, the process
   * emits a warning, once for nodes and a secret: they repeat each other's IDs.
   *
   * @throws {PolyflakeError} `invalid_type`, `unknown_field` or `out_of_range` with the option as `field`; `invalid_secret` unless
   * the secret has 16 bytes.
   */
  constructor(grant: Grant, secret: Uint8Array, options: GeneratorOptions = {}) {
    const { shared, clock, given } = sharedSettings(options, ["resumeAfter", ...SHARED]);
    const resumeAfter = optionalInteger(given.resumeAfter, "resumeAfter");
    const granted = numbersOf(grant);
    const loaded = machine();
    const m: MachineFor<"randflakeBuild"> = loaded;
    const length = putSecret(m, secret, "secret");
    const write = (): void => {
      put(m.numbers, optionsSlots, shared);
      put(m.numbers, grantSlots, granted);
      put(m.numbers, secretSlots, { length });
      put(m.numbers, randflakeOptionsSlots, { resumeAfter });
    };
    this.#handle = new Handle(this, loaded, write, m.calls.randflakeBuild, clock);
    const next = m.maker("randflakeGenerate", (m) => m.bigints[madeSlots.id] as RandflakeId, clock);
    present(this, nothingOf, nameOf);
    this.generate = () => {
      this.#handle.ready();
      return next() ?? this.#handle.refused();
    };
    this.#nextText = m.maker(
      "randflakeGenerateText",
      (m) => m.ascii(0, m.numbers[answerSlots.length]!) as RandflakeText,
      clock,
    );
    const { firstNode, lastNode, start, end } = granted;
    // A decrypted number identifies the secret without showing it.
    const { timestamp, node, sequence } = inspect(this.#handle, 0n);
    const identity = {
      key: `randflake ${[firstNode, lastNode, timestamp, node, sequence]}`,
      same: () => `nodes ${firstNode} to ${lastNode}, secret and time`,
      remedy: "close it first and resume after the second that close() returns, or give each its own nodes",
    };
    this.#claim = claim(this.#handle, identity, [start, end]);
  }

  /**
   * The text of one new ID.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}.
   */
  generateText(): RandflakeText {
    attached(isObject(this) && #handle in this);
    this.#handle.ready();
    return this.#nextText() ?? this.#handle.refused();
  }

  /**
   * Many new IDs, at most 16,777,216 at once.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}, with `written`, the number of IDs made before the error;
   * `invalid_type`, `out_of_range` for the count.
   */
  generateMany(count: number): RandflakeArray {
    attached(isObject(this) && #handle in this);
    const many = new BigInt64Array(within(count, "count", MOST));
    fillBy(new Uint8Array(many.buffer), 8, BATCH, (count, made) => this.#fill(count, made, true));
    return new RandflakeArray(many);
  }

  /**
   * One new ID if one can be made now. Never waits: the options for waiting do not apply.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate(): RandflakeId {
    attached(isObject(this) && #handle in this);
    return this.#now();
  }

  /**
   * The text of one new ID if one can be made now.
   *
   * @throws {PolyflakeError} as {@link tryGenerate}.
   */
  tryGenerateText(): RandflakeText {
    attached(isObject(this) && #handle in this);
    return encodeText(this.tryGenerate());
  }

  /**
   * Many new IDs without waiting, at most 16,777,216: only those that can be made now, which may be fewer than `count`, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number): RandflakeArray {
    attached(isObject(this) && #handle in this);
    const many = new Uint8Array(within(count, "count", MOST) * 8);
    const made = fillNow(many, 8, BATCH, (count, made) => this.#fill(count, made, false));
    return new RandflakeArray(new BigInt64Array(made.buffer as ArrayBuffer));
  }

  /**
   * Resolves to one new ID.
   *
   * The thread is free while the call waits. `onExhausted`, `maxWait` and `onStall` hold as in {@link Generator.generate}.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}, and the reason of an aborted signal, all as rejections of the promise.
   */
  async generateAsync(options: AsyncOptions = {}): Promise<RandflakeId> {
    attached(isObject(this) && #handle in this);
    const id = await this.#later(signalOf(options));
    return new RandflakeArray(new BigInt64Array(id.buffer as ArrayBuffer)).at(0)!;
  }

  /**
   * Resolves to the text of one new ID.
   *
   * @throws {PolyflakeError} as {@link Generator.generateAsync}.
   */
  async generateTextAsync(options: AsyncOptions = {}): Promise<RandflakeText> {
    attached(isObject(this) && #handle in this);
    return encodeText(await this.generateAsync(options));
  }

  /**
   * Resolves to many new IDs, at most 16,777,216 at once. Other work also gets its turn every 65,536 IDs; an aborted call loses
   * the IDs that it has made.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, and the reason of an aborted signal, all as rejections of the
   * promise.
   */
  async generateManyAsync(count: number, options: AsyncOptions = {}): Promise<RandflakeArray> {
    attached(isObject(this) && #handle in this);
    const signal = signalOf(options);
    const many = new Uint8Array(within(count, "count", MOST) * 8);
    const some = (count: number, made: number) => this.#fill(count, made, false);
    const one = (made: number) => this.#later(signal, made);
    await fillLater(many, 8, BATCH, { some, one }, signal);
    return new RandflakeArray(new BigInt64Array(many.buffer as ArrayBuffer));
  }

  /** The grant, with its extensions. */
  get grant(): Grant {
    attached(isObject(this) && #handle in this);
    const held = take(this.#handle.call("randflakeHeldGrant").numbers, grantSlots);
    return new Grant([held.firstNode, held.lastNode], held.start, held.end);
  }

  /**
   * Extends the grant; a grant that does not end later changes nothing.
   *
   * @throws {PolyflakeError} `lease_mismatch` unless both have the same nodes and start; `invalid_type`, `out_of_range`.
   */
  extendGrant(longer: Grant): void {
    attached(isObject(this) && #handle in this);
    const extended = numbersOf(longer);
    const m: MachineFor<"randflakeExtendGrant"> = this.#handle.machine;
    put(m.numbers, grantSlots, extended);
    this.#handle.call("randflakeExtendGrant");
    this.#claim.end = Math.max(this.#claim.end, extended.end);
  }

  /**
   * The fields of an ID. Plausible fields prove nothing: every number decrypts to some.
   *
   * @throws {PolyflakeError} `invalid_type` unless it is a bigint; `out_of_range` outside signed 64 bits.
   */
  inspect(id: bigint): Parts {
    attached(isObject(this) && #handle in this);
    return inspect(this.#handle, id);
  }

  /** The current figures. */
  stats(): Stats {
    attached(isObject(this) && #handle in this);
    const { lastSecond, len, closed } = take(this.#handle.call("randflakeStats").numbers, randflakeStatsSlots);
    return { lastSecond: secondOf(lastSecond), len, closed: closed === 1 };
  }

  /**
   * Ends the generator, and returns the last second used, in Unix seconds, for the option `resumeAfter` of the grant's next
   * generator. Undefined if no ID was made.
   *
   * @throws {PolyflakeError} `generator_closed` if it was closed before.
   */
  close(): number | undefined {
    attached(isObject(this) && #handle in this);
    const last = secondOf(this.#handle.call("randflakeClose").numbers[randflakeCloseSlots.lastSecond]!);
    this.#claim.end = -Infinity;
    return last;
  }

  /** One ID if one can be made now. */
  #now(): RandflakeId {
    return this.#handle.call("randflakeTryGenerate").bigints[madeSlots.id] as RandflakeId;
  }

  /** Makes one ID, waiting if needed, and returns its bytes. */
  #later(signal: Signal | undefined, made?: number): Promise<Uint8Array> {
    return this.#handle.later("randflakeOneAsync", (m) => m.bytes.slice(0, 8), signal, made);
  }

  /** Makes `count` IDs, or without waiting those that can be made now; the caller copies the bytes at once. */
  #fill(count: number, made: number, waits: boolean): Uint8Array {
    const m: MachineFor<"randflakeFill" | "randflakeFillNow"> = this.#handle.ready();
    m.numbers[manySlots.count] = count;
    this.#handle.check(waits ? m.calls.randflakeFill() : m.calls.randflakeFillNow(), made);
    return m.bytes.subarray(0, m.numbers[answerSlots.length]! * 8);
  }
}

function secondOf(slot: number): number | undefined {
  return Number.isNaN(slot) ? undefined : slot;
}
