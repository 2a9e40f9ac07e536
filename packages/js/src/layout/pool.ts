import { attached, isObject } from "../checks.js";
import { Members } from "../pool.js";
import { type LayoutArray, manyLaterOf, manyOf } from "./array.js";
import type { Kind } from "./description.js";
import type { Generator } from "./generator.js";
import type { IdOf } from "./layout.js";
import { type AsyncOptions, signalOf } from "../later.js";
import { machine } from "./machine.js";

/**
 * Generators of one layout as one, which makes more IDs in a tick than the layout's sequence allows to each. All bindables of
 * each are fixed.
 *
 * A call takes from the generator that the last one took from; where that one's tick is used up it goes on to the next, and only
 * where all are does it wait, or fail, as one alone would. All else a generator refuses, the pool refuses too, so it is closed,
 * extended and looked at member by member. IDs of different generators are in no order.
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
  readonly generate: () => IdOf<K>;

  readonly #members: Members<Generator<K>>;

  /**
   * A pool of generators, 1 to 65,536 of them.
   *
   * @throws {PolyflakeError} `invalid_type`, with the `item`, for what is no generator; with the `item` `missing_field` for a bindable that is not
   * fixed, `out_of_range` where one is there twice or two have the same bindables, `invalid_layout` for another layout than the others'; `out_of_range`
   * where there are none, or too many.
   */
  constructor(members: Iterable<Generator<K>>) {
    this.#members = new Members(members, machine(), "layoutPool");
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
   * One new ID if there is one now. It never waits, whatever the options say.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate(): IdOf<K> {
    attached(isObject(this) && #members in this);
    return this.#members.one(this.tryGenerateMany(1).at(0));
  }

  /**
   * The new IDs that there are now, up to a number of at most 16,777,216 (and 256 MiB). It never waits: there may be fewer, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number): LayoutArray<K> {
    attached(isObject(this) && #members in this);
    return manyOf(this.members[0]!.layout, count, (many, size, batch) => this.#members.fillNow(many, size, batch));
  }

  /**
   * One new ID, in time. The thread is free while the call waits.
   *
   * @throws {PolyflakeError} as {@link Generator.generateAsync}.
   */
  async generateAsync(options: AsyncOptions = {}): Promise<IdOf<K>> {
    attached(isObject(this) && #members in this);
    return (await this.generateManyAsync(1, options)).at(0)!;
  }

  /**
   * Many new IDs, at most 16,777,216 (and 256 MiB) at once, in time, from one generator after the other.
   *
   * @throws {PolyflakeError} as {@link Generator.generateManyAsync}.
   */
  async generateManyAsync(count: number, options: AsyncOptions = {}): Promise<LayoutArray<K>> {
    attached(isObject(this) && #members in this);
    const signal = signalOf(options);
    return manyLaterOf(this.members[0]!.layout, count, (many, size, batch) => this.#members.fillLater(many, size, batch, signal));
  }

  /** Its generators. */
  get members(): readonly Generator<K>[] {
    attached(isObject(this) && #members in this);
    return this.#members.all;
  }
}
