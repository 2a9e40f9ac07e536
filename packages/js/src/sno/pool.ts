import { attached, isObject, within } from "../checks.js";
import { type AsyncOptions, signalOf } from "../later.js";
import { BATCH, MOST } from "../machine.js";
import { Members } from "../pool.js";
import type { Generator } from "./generator.js";
import { LENGTH, SnoArray } from "./ids.js";
import { machine } from "./machine.js";

/**
 * Generators of several partitions as one, which makes more IDs in a tick than the 65,536 that each may: one partition takes
 * 61 ns an ID, however fast the machine is.
 *
 * A call takes from the generator that the last one took from; where that one's tick is used up it goes on to the next, and only
 * where all are does it wait, or fail, as one alone would. All else a generator refuses, the pool refuses too, so it is closed,
 * extended and looked at member by member. IDs of different generators are in no order.
 *
 * ```js
 * const ids = new sno.Pool([1, 2, 3, 4].map((partition) => new sno.Generator({ partition })));
 * ids.generateMany(100_000).length; // 100000
 * ```
 */
export class Pool {
  static readonly name: string = "Pool";

  /**
   * One new ID, of the given metabyte (0..255) or its generators' own.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}.
   */
  readonly generate: (metabyte?: number) => string;

  readonly #members: Members<Generator>;

  /**
   * A pool of generators, 1 to 65,536 of them.
   *
   * @throws {PolyflakeError} `invalid_type`, with the `item`, for what is no generator; `out_of_range` with the `item` where one is there
   * twice, two have the same given partition, given partitions and default ones are mixed (they might meet), or the metabytes for IDs made
   * without saying one differ; `out_of_range` where there are none, or too many.
   */
  constructor(members: Iterable<Generator>) {
    this.#members = new Members(members, machine(), "snoPool");
    this.generate = (metabyte) => this.generateMany(1, metabyte).at(0)!;
  }

  /**
   * Many new IDs, at most 16,777,216 at once, from one generator after the other.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}.
   */
  generateMany(count: number, metabyte?: number): SnoArray {
    attached(isObject(this) && #members in this);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    this.#members.fill(many, LENGTH, BATCH, metabyte);
    return new SnoArray(many);
  }

  /**
   * One new ID if there is one now. It never waits, whatever the options say.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate(metabyte?: number): string {
    attached(isObject(this) && #members in this);
    return this.#members.one(this.tryGenerateMany(1, metabyte).at(0), metabyte);
  }

  /**
   * The new IDs that there are now, up to a number of at most 16,777,216. It never waits: there may be fewer, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number, metabyte?: number): SnoArray {
    attached(isObject(this) && #members in this);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    return new SnoArray(this.#members.fillNow(many, LENGTH, BATCH, metabyte));
  }

  /**
   * One new ID, of the given metabyte (0..255) or its generators' own, in time. The thread is free while the call waits.
   *
   * @throws {PolyflakeError} as {@link Generator.generateAsync}.
   */
  async generateAsync(metabyte?: number, options: AsyncOptions = {}): Promise<string> {
    attached(isObject(this) && #members in this);
    return (await this.generateManyAsync(1, metabyte, options)).at(0)!;
  }

  /**
   * Many new IDs, at most 16,777,216 at once, in time, from one generator after the other.
   *
   * @throws {PolyflakeError} as {@link Generator.generateManyAsync}.
   */
  async generateManyAsync(count: number, metabyte?: number, options: AsyncOptions = {}): Promise<SnoArray> {
    attached(isObject(this) && #members in this);
    const signal = signalOf(options);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    await this.#members.fillLater(many, LENGTH, BATCH, signal, metabyte);
    return new SnoArray(many);
  }

  /** Its generators. */
  get members(): readonly Generator[] {
    attached(isObject(this) && #members in this);
    return this.#members.all;
  }
}
