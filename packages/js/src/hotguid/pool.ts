import { attached, isObject, within } from "../checks.js";
import { type AsyncOptions, signalOf } from "../later.js";
import { BATCH, MOST } from "../machine.js";
import { Members } from "../pool.js";
import type { Generator } from "./generator.js";
import { HotGuidArray, LENGTH } from "./ids.js";
import { machine } from "./machine.js";

/**
 * Several generators as one, which makes more IDs in a second than the 16,777,216 that each may. What tells them apart are
 * the random bytes that each draws.
 *
 * A call takes from the generator that the last one took from; where that one's tick is used up it goes on to the next, and only
 * where all are does it wait, or fail, as one alone would. All else a generator refuses, the pool refuses too, so it is closed,
 * extended and looked at member by member. IDs of different generators are in no order.
 *
 * ```js
 * const ids = new hotguid.Pool([new hotguid.Generator(), new hotguid.Generator()]);
 * hotguid.shardKey(ids.generate(7)); // 7
 * ```
 */
export class Pool {
  static readonly name: string = "Pool";

  /**
   * One new ID, for a shard key of your choice: 0..4294967295, 0 by default.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}.
   */
  readonly generate: (shardKey?: number) => string;

  readonly #members: Members<Generator>;

  /**
   * A pool of generators, 1 to 65,536 of them.
   *
   * @throws {PolyflakeError} `invalid_type`, with the `item`, for what is no generator; `out_of_range` with the `item` where one is there
   * twice; `out_of_range` where there are none, or too many.
   */
  constructor(members: Iterable<Generator>) {
    this.#members = new Members(members, machine(), "hotguidPool");
    this.generate = (shardKey) => this.generateMany(1, shardKey).at(0)!;
  }

  /**
   * Many new IDs, at most 16,777,216 at once, from one generator after the other.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}.
   */
  generateMany(count: number, shardKey = 0): HotGuidArray {
    attached(isObject(this) && #members in this);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    this.#members.fill(many, LENGTH, BATCH, shardKey);
    return new HotGuidArray(many);
  }

  /**
   * One new ID if there is one now. It never waits, whatever the options say.
   *
   * @throws {PolyflakeError} `sequence_exhausted` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate(shardKey = 0): string {
    attached(isObject(this) && #members in this);
    return this.#members.one(this.tryGenerateMany(1, shardKey).at(0), shardKey);
  }

  /**
   * The new IDs that there are now, up to a number of at most 16,777,216. It never waits: there may be fewer, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number, shardKey = 0): HotGuidArray {
    attached(isObject(this) && #members in this);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    return new HotGuidArray(this.#members.fillNow(many, LENGTH, BATCH, shardKey));
  }

  /**
   * One new ID, for a shard key of your choice, in time. The thread is free while the call waits.
   *
   * @throws {PolyflakeError} as {@link Generator.generateAsync}.
   */
  async generateAsync(shardKey = 0, options: AsyncOptions = {}): Promise<string> {
    attached(isObject(this) && #members in this);
    return (await this.generateManyAsync(1, shardKey, options)).at(0)!;
  }

  /**
   * Many new IDs, at most 16,777,216 at once, in time, from one generator after the other.
   *
   * @throws {PolyflakeError} as {@link Generator.generateManyAsync}.
   */
  async generateManyAsync(count: number, shardKey = 0, options: AsyncOptions = {}): Promise<HotGuidArray> {
    attached(isObject(this) && #members in this);
    const signal = signalOf(options);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    await this.#members.fillLater(many, LENGTH, BATCH, signal, shardKey);
    return new HotGuidArray(many);
  }

  /** Its generators. */
  get members(): readonly Generator[] {
    attached(isObject(this) && #members in this);
    return this.#members.all;
  }
}
