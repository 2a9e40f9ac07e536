import { attached, isObject, optionalInteger } from "../checks.js";
import type { GuardedClock } from "../clock.js";
import type { RandflakeId, RandflakeText } from "../decode/randflake.js";
import { AnyGenerator } from "../generator.js";
import { Handle } from "../handle.js";
import type { AsyncOptions } from "../later.js";
import { type AnyLease, alone, isLease, leasedBy, leaseOf, unavailable } from "../leased.js";
import { type Machine, MOST, type Next } from "../machine.js";
import { putShared, SHARED, type SharedOptions, sharedSettings } from "../options.js";
import {
  answerSlots,
  BATCH,
  grantSlots,
  madeSlots,
  randflakeCloseSlots,
  randflakeOptionsSlots,
  randflakeStatsSlots,
  secretSlots,
} from "../protocol.js";
import { putSecret, secretOf } from "../secret.js";
import { hexOf } from "../show.js";
import { put, take } from "../slots.js";
import { claim } from "../twins.js";
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

/** What is the same in all generators of the family. */
const FAMILY = {
  name: "randflake",
  size: 8,
  batch: BATCH,
  most: MOST,
  parameters: 0,
  packed: (m: Machine) => m.bytes.slice(0, 8),
  filled: (m: Machine) => m.bytes.subarray(0, m.numbers[answerSlots.length]! * 8),
  many: (packed: Uint8Array) => new RandflakeArray(new BigInt64Array(packed.buffer as ArrayBuffer)),
} as const;

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
export class Generator extends AnyGenerator<[], RandflakeId, RandflakeArray> {
  static override readonly name: string = "Generator";

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
  readonly #nextText: Next<RandflakeText>;

  /**
   * A generator. If another one of this thread, still in use, has the same nodes and secret and their times overlap, the process
   * emits a warning, once for nodes and a secret: they repeat each other's IDs.
   *
   * @throws {PolyflakeError} `invalid_type`, `unknown_field` or `out_of_range` with the option as `field`; `invalid_secret` unless
   * the secret has 16 bytes.
   */
  constructor(grant: Grant | AnyLease, secret: Uint8Array, options: GeneratorOptions = {}) {
    const { shared, clock, given } = sharedSettings(options, ["resumeAfter", ...SHARED]);
    const lease = isLease(grant) ? leaseOf({ ...given, lease: grant }, ["resumeAfter"]) : undefined;
    const resumeAfter = optionalInteger(given.resumeAfter, "resumeAfter");
    const granted = lease ? FIRST : numbersOf(grant);
    const m = machine();
    const build = (of: unknown, grant: typeof granted) => {
      const length = putSecret(m, of, "secret");
      const write = (): void => {
        putShared(m, lease ? { ...shared, skipsFirstTick: 0 } : shared);
        put(m.numbers, grantSlots, grant);
        put(m.numbers, secretSlots, { length });
        put(m.numbers, randflakeOptionsSlots, { resumeAfter });
      };
      return new Handle(m, write, m.calls.randflakeBuild, clock);
    };
    const handle = lease ? leased(lease, secret, clock, build) : build(secret, granted);
    const one = (m: Machine) => m.bigints[madeSlots.id] as RandflakeId;
    super(handle, { ...FAMILY, ready: () => handle.ready(), next: m.maker("randflakeGenerate", one, !clock), one });
    this.#handle = handle;
    const text = (m: Machine) => m.ascii(0, m.numbers[answerSlots.length]!) as RandflakeText;
    this.#nextText = m.maker("randflakeGenerateText", text, !clock);
    if (lease) return;
    const { firstNode, lastNode, start, end } = granted;
    // A decrypted number identifies the secret without showing it.
    const { timestamp, node, sequence } = inspect(handle, 0n);
    const key = `randflake ${[firstNode, lastNode, timestamp, node, sequence]}`;
    const identity = {
      group: key,
      key,
      same: () => `nodes ${firstNode} to ${lastNode}, secret and time`,
      remedy: "close it first and resume after the second that close() returns, or give each its own nodes",
    };
    claim(handle, identity, [start, end]);
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
   * The text of one new ID if one can be made now.
   *
   * @throws {PolyflakeError} as {@link tryGenerate}.
   */
  tryGenerateText(): RandflakeText {
    attached(isObject(this) && #handle in this);
    return encodeText(this.tryGenerate());
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

  /** The grant, with its extensions. */
  get grant(): Grant {
    attached(isObject(this) && #handle in this);
    if (this.#handle.lease?.granted === false) throw unavailable(this.#handle.lease, {});
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
    alone(this.#handle);
    const extended = numbersOf(longer);
    const m = this.#handle.machine;
    put(m.numbers, grantSlots, extended);
    this.#handle.call("randflakeExtendGrant");
    const { claim } = this.#handle;
    if (claim) claim.end = Math.max(claim.end, extended.end);
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
    alone(this.#handle);
    const last = secondOf(this.#handle.call("randflakeClose").numbers[randflakeCloseSlots.lastSecond]!);
    if (this.#handle.claim) this.#handle.claim.end = -Infinity;
    return last;
  }
}

/** A grant for a generator that makes no IDs. */
const FIRST = { firstNode: 0, lastNode: 0, start: 1_730_000_000, end: 1_730_000_001 };

/** The handle of a generator under a lease, with a copy of the secret for each grant. */
function leased(
  lease: AnyLease,
  given: Uint8Array,
  clock: GuardedClock | undefined,
  build: (secret: Uint8Array, grant: typeof FIRST) => Handle,
): Handle {
  const secret = secretOf(given);
  return leasedBy(lease, {
    settings: { family: "randflake", secret: hexOf(secret) },
    clock,
    build: (number, start, end) => {
      const [first, last] = [Math.ceil(start / 1000), Math.floor(end / 1000)];
      const grant = { firstNode: number, lastNode: number, start: first, end: last };
      return build(secret, Number.isNaN(start) ? FIRST : grant);
    },
    extend: (handle, end) => {
      const held = take(handle.call("randflakeHeldGrant").numbers, grantSlots);
      put(handle.machine.numbers, grantSlots, { ...held, end: Math.floor(end / 1000) });
      handle.call("randflakeExtendGrant");
    },
    close: (handle) => (handle.call("randflakeClose").numbers[randflakeCloseSlots.lastSecond]! + 1) * 1000,
  });
}

function secondOf(slot: number): number | undefined {
  return Number.isNaN(slot) ? undefined : slot;
}
