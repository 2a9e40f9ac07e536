import { attached, isObject, within } from "../checks.js";
import type { RandflakeId, RandflakeText } from "../decode/randflake.js";
import { type AsyncOptions, signalOf } from "../later.js";
import { MOST } from "../machine.js";
import { Members } from "../pool.js";
import { BATCH } from "../protocol.js";
import { nameOf, nothingOf, present } from "../show.js";
import type { Generator } from "./generator.js";
import { encodeText, machine, RandflakeArray } from "./ids.js";

/**
 * Generators of several grants as one, which makes more IDs in a second than the 131,072 of each node. For consecutive nodes, one
 * grant of all of them does the same.
 *
 * A call stays with the generator that made the last ID and moves on to the next one when its tick is used up; only when all are
 * used up does it wait or fail, as a single generator would. Any other error of a member is an error of the pool; close, extend
 * and inspect members one by one. IDs of different generators are in no order.
 *
 * ```js
 * const grants = [7, 42].map((node) => new randflake.Grant(node, 1_730_000_000, 2_803_741_824));
 * const ids = new randflake.Pool(grants.map((grant) => new randflake.Generator(grant, secret)));
 * ids.generateMany(200_000).length; // 200000
 * ```
 */
export class Pool {
  static readonly name: string = "Pool";

  /**
   * One new ID.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}.
   */
  declare readonly generate: () => RandflakeId;

  readonly #members: Members<Generator>;

  /**
   * A pool of generators, 1 to 65,536 of them.
   *
   * @throws {PolyflakeError} with the `item`: `invalid_type` for a value that is no generator, `out_of_range` for a generator
   * given twice or with a node of another, `invalid_secret` for a secret that differs from the others; without it: `out_of_range`
   * for none, or too many.
   */
  constructor(members: Iterable<Generator>) {
    this.#members = new Members(members, machine(), "randflakePool");
    present(this, nothingOf, nameOf);
    this.generate = () => this.generateMany(1).ids[0] as RandflakeId;
  }

  /**
   * The text of one new ID.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}.
   */
  generateText(): RandflakeText {
    attached(isObject(this) && #members in this);
    return encodeText(this.generate());
  }

  /**
   * Many new IDs, at most 16,777,216 at once, from one generator after the other.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}.
   */
  generateMany(count: number): RandflakeArray {
    attached(isObject(this) && #members in this);
    const many = new BigInt64Array(within(count, "count", MOST));
    this.#members.fill(new Uint8Array(many.buffer), 8, BATCH);
    return new RandflakeArray(many);
  }

  /**
   * One new ID if one can be made now. Never waits: the options for waiting do not apply.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate(): RandflakeId {
    attached(isObject(this) && #members in this);
    return this.#members.one(this.tryGenerateMany(1).ids[0] as RandflakeId | undefined);
  }

  /**
   * The text of one new ID if one can be made now.
   *
   * @throws {PolyflakeError} as {@link tryGenerate}.
   */
  tryGenerateText(): RandflakeText {
    attached(isObject(this) && #members in this);
    return encodeText(this.tryGenerate());
  }

  /**
   * Many new IDs without waiting, at most 16,777,216: only those that can be made now, which may be fewer than `count`, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number): RandflakeArray {
    attached(isObject(this) && #members in this);
    const many = new Uint8Array(within(count, "count", MOST) * 8);
    return new RandflakeArray(new BigInt64Array(this.#members.fillNow(many, 8, BATCH).buffer as ArrayBuffer));
  }

  /**
   * Resolves to one new ID. The thread is free while the call waits.
   *
   * @throws {PolyflakeError} as {@link Generator.generateAsync}.
   */
  async generateAsync(options: AsyncOptions = {}): Promise<RandflakeId> {
    attached(isObject(this) && #members in this);
    return (await this.generateManyAsync(1, options)).at(0)!;
  }

  /**
   * Resolves to the text of one new ID.
   *
   * @throws {PolyflakeError} as {@link Generator.generateAsync}.
   */
  async generateTextAsync(options: AsyncOptions = {}): Promise<RandflakeText> {
    attached(isObject(this) && #members in this);
    return encodeText(await this.generateAsync(options));
  }

  /**
   * Resolves to many new IDs, at most 16,777,216 at once, from one generator after the other.
   *
   * @throws {PolyflakeError} as {@link Generator.generateManyAsync}.
   */
  async generateManyAsync(count: number, options: AsyncOptions = {}): Promise<RandflakeArray> {
    attached(isObject(this) && #members in this);
    const signal = signalOf(options);
    const many = new Uint8Array(within(count, "count", MOST) * 8);
    await this.#members.fillLater(many, 8, BATCH, signal);
    return new RandflakeArray(new BigInt64Array(many.buffer as ArrayBuffer));
  }

  /** The pool's generators. */
  get members(): readonly Generator[] {
    attached(isObject(this) && #members in this);
    return this.#members.all;
  }
}
