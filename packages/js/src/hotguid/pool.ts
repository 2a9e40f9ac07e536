import { attached, isObject, within } from "../checks.js";
import type { HotGuidId } from "../decode/hotguid.js";
import { type AsyncOptions, signalOf } from "../later.js";
import { MOST } from "../machine.js";
import { Members } from "../pool.js";
import { BATCH } from "../protocol.js";
import { nameOf, nothingOf, present } from "../show.js";
import type { Generator } from "./generator.js";
import { HotGuidArray, LENGTH, machine } from "./ids.js";

/**
 * Several generators as one, which makes more IDs in a second than the 16,777,216 of each. The random bytes that each draws tell
 * them apart.
 *
 * A call stays with the generator that made the last ID and moves on to the next one when its tick is used up; only when all are
 * used up does it wait or fail, as a single generator would. Any other error of a member is an error of the pool; close, extend
 * and inspect members one by one. IDs of different generators are in no order.
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
  declare readonly generate: (shardKey?: number) => HotGuidId;

  readonly #members: Members<Generator>;

  /**
   * A pool of generators, 1 to 65,536 of them.
   *
   * @throws {PolyflakeError} `invalid_type` with the `item` for a value that is no generator; `out_of_range` with the `item` for a
   * generator given twice; `out_of_range` for none, or too many.
   */
  constructor(members: Iterable<Generator>) {
    this.#members = new Members(members, machine(), "hotguidPool");
    present(this, nothingOf, nameOf);
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
   * One new ID if one can be made now. Never waits: the options for waiting do not apply.
   *
   * @throws {PolyflakeError} `sequence_exhausted` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate(shardKey = 0): HotGuidId {
    attached(isObject(this) && #members in this);
    return this.#members.one(this.tryGenerateMany(1, shardKey).at(0), shardKey);
  }

  /**
   * Many new IDs without waiting, at most 16,777,216: only those that can be made now, which may be fewer than `count`, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number, shardKey = 0): HotGuidArray {
    attached(isObject(this) && #members in this);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    return new HotGuidArray(this.#members.fillNow(many, LENGTH, BATCH, shardKey));
  }

  /**
   * Resolves to one new ID, for a shard key of your choice. The thread is free while the call waits.
   *
   * @throws {PolyflakeError} as {@link Generator.generateAsync}.
   */
  async generateAsync(shardKey = 0, options: AsyncOptions = {}): Promise<HotGuidId> {
    attached(isObject(this) && #members in this);
    return (await this.generateManyAsync(1, shardKey, options)).at(0)!;
  }

  /**
   * Resolves to many new IDs, at most 16,777,216 at once, from one generator after the other.
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

  /** The pool's generators. */
  get members(): readonly Generator[] {
    attached(isObject(this) && #members in this);
    return this.#members.all;
  }
}
