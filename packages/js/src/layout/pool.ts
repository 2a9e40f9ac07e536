import { attached, isObject } from "../checks.js";
import { type AsyncOptions, signalOf } from "../later.js";
import { Members } from "../pool.js";
import { nameOf, nothingOf, present } from "../show.js";
import { type LayoutArray, manyLaterOf, manyOf } from "./array.js";
import type { Kind } from "./description.js";
import type { IdOf } from "./fields.js";
import type { Generator } from "./generator.js";
import { machine } from "./layout.js";

/**
 * Several generators of one layout as one, which makes more IDs in a tick than the layout's sequence allows to each. Every
 * generator must have all its bindables fixed.
 *
 * A call stays with the generator that made the last ID and moves on to the next one when its tick is used up; only when all are
 * used up does it wait or fail, as a single generator would. Any other error of a member is an error of the pool; close, extend
 * and inspect members one by one. IDs of different generators are in no order.
 *
 * ```js
 * const sonyflake = layout.Layout.preset("sonyflake"); // 256 in 10 ms
 * const of = (machine) => new layout.Generator(sonyflake, { bindables: { machine } });
 * new layout.Pool([of(7), of(8)]).generateMany(500).length; // 500
 * ```
 */
export class Pool<K extends Kind = Kind> {
  static readonly name: string = "Pool";

  /**
   * One new ID.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}.
   */
  declare readonly generate: () => IdOf<K>;

  readonly #members: Members<Generator<K>>;

  /**
   * A pool of generators, 1 to 65,536 of them.
   *
   * @throws {PolyflakeError} with the `item`: `invalid_type` for a value that is no generator, `missing_field` for a bindable
   * that is not fixed, `out_of_range` for a generator given twice or with the bindables of another, `invalid_layout` for a layout
   * that differs from the others; without it: `out_of_range` for none, or too many.
   */
  constructor(members: Iterable<Generator<K>>) {
    this.#members = new Members(members, machine(), "layoutPool");
    present(this, nothingOf, nameOf);
    this.generate = () => this.generateMany(1).at(0)!;
  }

  /**
   * Many new IDs, at most 16,777,216 (and 256 MiB) at once, from one generator after the other.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}.
   */
  generateMany(count: number): LayoutArray<K> {
    attached(isObject(this) && #members in this);
    return manyOf(this.members[0]!.layout, count, (many, size, batch) => this.#members.fill(many, size, batch));
  }

  /**
   * One new ID if one can be made now. Never waits: the options for waiting do not apply.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate(): IdOf<K> {
    attached(isObject(this) && #members in this);
    return this.#members.one(this.tryGenerateMany(1).at(0));
  }

  /**
   * Many new IDs without waiting, at most 16,777,216 (and 256 MiB): only those that can be made now, which may be fewer than
   * `count`, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number): LayoutArray<K> {
    attached(isObject(this) && #members in this);
    return manyOf(this.members[0]!.layout, count, (many, size, batch) => this.#members.fillNow(many, size, batch));
  }

  /**
   * Resolves to one new ID. The thread is free while the call waits.
   *
   * @throws {PolyflakeError} as {@link Generator.generateAsync}.
   */
  async generateAsync(options: AsyncOptions = {}): Promise<IdOf<K>> {
    attached(isObject(this) && #members in this);
    return (await this.generateManyAsync(1, options)).at(0)!;
  }

  /**
   * Resolves to many new IDs, at most 16,777,216 (and 256 MiB) at once, from one generator after the other.
   *
   * @throws {PolyflakeError} as {@link Generator.generateManyAsync}.
   */
  async generateManyAsync(count: number, options: AsyncOptions = {}): Promise<LayoutArray<K>> {
    attached(isObject(this) && #members in this);
    const signal = signalOf(options);
    return manyLaterOf(this.members[0]!.layout, count, (many, size, batch) =>
      this.#members.fillLater(many, size, batch, signal),
    );
  }

  /** The pool's generators. */
  get members(): readonly Generator<K>[] {
    attached(isObject(this) && #members in this);
    return this.#members.all;
  }
}
