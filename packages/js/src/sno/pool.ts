import { attached, isObject, within } from "../checks.js";
import type { Expected, SnoId } from "../decode/sno.js";
import { type AsyncOptions, signalOf } from "../later.js";
import { MOST } from "../machine.js";
import { Members } from "../pool.js";
import { BATCH } from "../protocol.js";
import { nameOf, nothingOf, present } from "../show.js";
import type { Generator } from "./generator.js";
import { LENGTH, machine, SnoArray } from "./ids.js";

/**
 * Generators of several partitions as one, which makes more IDs in a tick than the 65,536 of each: one partition takes 61 ns an ID,
 * however fast the machine is.
 *
 * A call stays with the generator that made the last ID and moves on to the next one when its tick is used up; only when all are
 * used up does it wait or fail, as a single generator would. Any other error of a member is an error of the pool; close, extend
 * and inspect members one by one. IDs of different generators are in no order.
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
  declare readonly generate: <M extends number = number>(metabyte?: Expected<M>) => SnoId<M>;

  readonly #members: Members<Generator>;

  /**
   * A pool of generators, 1 to 65,536 of them.
   *
   * @throws {PolyflakeError} with the `item`: `invalid_type` for a value that is no generator; `out_of_range` for a generator
   * given twice, for the given partition of another, for a mix of given and default partitions (which might meet), and for
   * another option `metabyte` than the first; without it: `out_of_range` for none, or too many.
   */
  constructor(members: Iterable<Generator>) {
    this.#members = new Members(members, machine(), "snoPool");
    present(this, nothingOf, nameOf);
    this.generate = (metabyte) => this.generateMany(1, metabyte).at(0)! as SnoId<never>;
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
   * One new ID if one can be made now. Never waits: the options for waiting do not apply.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate<M extends number = number>(metabyte?: Expected<M>): SnoId<M> {
    attached(isObject(this) && #members in this);
    return this.#members.one(this.tryGenerateMany(1, metabyte).at(0) as SnoId<never>, metabyte);
  }

  /**
   * Many new IDs without waiting, at most 16,777,216: only those that can be made now, which may be fewer than `count`, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number, metabyte?: number): SnoArray {
    attached(isObject(this) && #members in this);
    const many = new Uint8Array(within(count, "count", MOST) * LENGTH);
    return new SnoArray(this.#members.fillNow(many, LENGTH, BATCH, metabyte));
  }

  /**
   * Resolves to one new ID, of the given metabyte (0..255) or its generators' own. The thread is free while the call waits.
   *
   * @throws {PolyflakeError} as {@link Generator.generateAsync}.
   */
  async generateAsync<M extends number = number>(
    metabyte?: Expected<M>,
    options: AsyncOptions = {},
  ): Promise<SnoId<M>> {
    attached(isObject(this) && #members in this);
    return (await this.generateManyAsync(1, metabyte, options)).at(0)! as SnoId<never>;
  }

  /**
   * Resolves to many new IDs, at most 16,777,216 at once, from one generator after the other.
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

  /** The pool's generators. */
  get members(): readonly Generator[] {
    attached(isObject(this) && #members in this);
    return this.#members.all;
  }
}
