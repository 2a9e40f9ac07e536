import { attached, flag, isObject, time } from "../checks.js";
import { Kept } from "../kept.js";
import { type AsyncOptions, fillLater, type Signal, signalOf } from "../later.js";
import { answerOf, MessageReader } from "../message.js";
import { fillBy, fillNow } from "../packed.js";
import { enroll } from "../pool.js";
import { type Claim, claim } from "../twins.js";
import { sharedSettings, WINDOW, type WindowOptions } from "../options.js";
import { withJson } from "../show.js";
import { arrayOf, type LayoutArray, manyLaterOf, manyOf } from "./array.js";
import { jsonOf, type Kind, messageOf } from "./description.js";
import { handleOf, type IdOf, idOf, type Layout } from "./layout.js";
import { machine } from "./machine.js";
import { type Values, ValuesWriter } from "./values.js";

/** Options for a generator. */
export interface GeneratorOptions extends WindowOptions {
  /** Bindables that are the same in every ID; the others are given for each. */
  bindables?: Values;
  /** For a layout without a timestamp, whose sequence is given out once, from its start to its end. */
  sequenceOnly?: boolean;
}

/**
 * What a closed generator leaves to restore from, once: a second generator from it repeats IDs.
 *
 * It is JSON, the same in every language; integers past 2^53 are decimal texts.
 */
export interface Snapshot {
  /** The last tick used, as the timestamp counts them; 0 in a layout without one. */
  tick: number | string;
  /** The sequence that follows in that tick, one past the field's last if it is used up. */
  next_sequence: number | string;
}

/** Figures of a generator, at one moment. */
export interface Stats {
  /** When the last tick used began, in Unix milliseconds; undefined before the first ID, and in a layout without a timestamp. */
  lastMs: bigint | undefined;
  /** How many IDs of that tick are used up, or of the whole sequence in a layout without a timestamp. */
  len: bigint;
  /** Whether the generator was closed. */
  closed: boolean;
}

const OPTIONS = ["bindables", "sequenceOnly", ...WINDOW] as const;

/** Where a generator begins that does not begin anew. */
class Origin {
  constructor(readonly snapshot: unknown) {}
}

/**
 * Makes IDs of one layout, which has a timestamp and a sequence. The sequence begins with its start value in each new tick;
 * a clock behind the last tick is an error at once. Two generators of the same layout and bindables repeat each other's IDs.
 *
 * It belongs to the thread that made it: it can be neither cloned nor sent to a worker.
 *
 * ```js
 * const ids = new layout.Generator(layout.Layout.preset("sonyflake"), { bindables: { machine: 7 } });
 * ids.layout.parse(ids.generate()).bindables.machine; // 7
 * ```
 */
export class Generator<K extends Kind = Kind> {
  static readonly name: string = "Generator";

  /**
   * One new ID, with those bindables that are not fixed.
   *
   * A function of the object's own: it may be taken off and called alone, and it keeps the generator from being cloned.
   *
   * @throws {PolyflakeError} `missing_field`, `unknown_field`, `out_of_range` for a bindable, with the `field`; `invalid_type`;
   * `clock_behind` at once; `sequence_exhausted` after a wait of at most `maxWait`, both with `retryAt`; `lease_not_started`,
   * `lease_expired` outside the window; `time_out_of_range` outside the layout's time; `clock_failed` with the `cause`;
   * `generator_closed`.
   */
  readonly generate: (bindables?: Values) => IdOf<K>;

  /** The layout of its IDs. */
  readonly layout: Layout<K>;
  readonly #kept: Kept;
  readonly #claim: Claim;

  /**
   * A generator. Where another one of this thread, still in use, has the same layout, fixed bindables and a part of the time, a warning
   * of the process says so: they repeat each other's IDs.
   *
   * @throws {PolyflakeError} `invalid_layout` for a layout that no IDs can be made of; `unknown_field`, `out_of_range` with the option or
   * bindable as `field`; `invalid_type`; `time_out_of_range` for the window.
   */
  constructor(layout: Layout<K>, options?: GeneratorOptions);
  constructor(layout: Layout<K>, options: unknown = {}, origin?: unknown) {
    const { slots, clock, given } = sharedSettings(options, OPTIONS);
    const sequenceOnly = Number(flag(given.sequenceOnly, "sequenceOnly"));
    const restored = origin instanceof Origin;
    const message = restored ? messageOf(origin.snapshot, ValuesWriter) : new ValuesWriter();
    const before = message.written.length;
    message.pairs(given.bindables, "bindables");
    const fixed = String(message.written.subarray(before));
    const handle = handleOf(layout);
    const m = machine();
    const own = [handle, message.put(m), sequenceOnly, Number(restored)];
    this.#kept = new Kept(this, m, "layoutGeneratorBuild", [...slots, ...own], clock);
    this.layout = layout;
    this.generate = (bindables) => {
      this.#put(bindables);
      return idOf(this.#kept.call("layoutGenerate"), layout.isInteger);
    };
    this.#claim = claim(this.#kept, `layout ${fixed} ${layout.toJson()}`, slots, "layoutPool", "layout, bindables");
    enroll(this, { kept: this.#kept, fill: this.#fill.bind(this), now: this.#now.bind(this), later: this.#later.bind(this) });
  }

  /**
   * A generator that goes on where a closed one of the same layout stopped. Restore a snapshot once.
   *
   * @throws {PolyflakeError} as the constructor; `invalid_layout` for what is no snapshot; `out_of_range` for one that no generator
   * of the layout can have left.
   */
  static restore<K extends Kind>(layout: Layout<K>, snapshot: Snapshot, options: GeneratorOptions = {}): Generator<K> {
    const make = Generator as unknown as new (layout: Layout<K>, options: unknown, origin: Origin) => Generator<K>;
    return new make(layout, options, new Origin(snapshot));
  }

  /**
   * Many new IDs, at most 16,777,216 (and 256 MiB) at once, with those bindables that are not fixed.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}, with `written`: how many were made before; `out_of_range` for
   * the count.
   */
  generateMany(count: number, bindables?: Values): LayoutArray<K> {
    attached(isObject(this) && #kept in this);
    return manyOf(this.layout, count, (many, size, batch) =>
      fillBy(many, size, batch, (count, made) => this.#fill(count, bindables, made, true)),
    );
  }

  /**
   * One new ID if there is one now. It never waits, whatever the options say.
   *
   * @throws {PolyflakeError} `sequence_exhausted` or `clock_behind` with `retryAt`, instead of a wait; otherwise as {@link Generator.generate}.
   */
  tryGenerate(bindables?: Values): IdOf<K> {
    attached(isObject(this) && #kept in this);
    return this.#now(bindables);
  }

  /**
   * The new IDs that there are now, up to a number of at most 16,777,216 (and 256 MiB). It never waits: there may be fewer, or none.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}, except for `sequence_exhausted` and `clock_behind`.
   */
  tryGenerateMany(count: number, bindables?: Values): LayoutArray<K> {
    attached(isObject(this) && #kept in this);
    return manyOf(this.layout, count, (many, size, batch) =>
      fillNow(many, size, batch, (count, made) => this.#fill(count, bindables, made, false)),
    );
  }

  /**
   * One new ID, in time, with those bindables that are not fixed.
   *
   * The thread is free while the call waits, by the rules of {@link Generator.generate}: `onExhausted`, `maxWait` and `onStall`.
   *
   * @throws {PolyflakeError} as {@link Generator.generate}; the reason of a signal that is aborted. All of it rejects.
   */
  async generateAsync(bindables?: Values, options: AsyncOptions = {}): Promise<IdOf<K>> {
    attached(isObject(this) && #kept in this);
    const id = await this.#later(bindables, signalOf(options));
    return arrayOf<K>(this.layout, id).at(0)!;
  }

  /**
   * Many new IDs, at most 16,777,216 (and 256 MiB) at once, in time. The thread is free now and then, too, while many are made; a call
   * that is aborted loses what it has made.
   *
   * @throws {PolyflakeError} as {@link Generator.generateMany}; the reason of a signal that is aborted. All of it rejects.
   */
  async generateManyAsync(count: number, bindables?: Values, options: AsyncOptions = {}): Promise<LayoutArray<K>> {
    attached(isObject(this) && #kept in this);
    const signal = signalOf(options);
    const some = (count: number, made: number) => this.#fill(count, bindables, made, false);
    const one = (made: number) => this.#later(bindables, signal, made);
    return manyLaterOf(this.layout, count, (many, size, batch) => fillLater(many, size, batch, { some, one }, signal));
  }

  /**
   * Moves the end of the window later, to a Date or integer Unix milliseconds; an earlier or equal end changes nothing,
   * and neither does any end of a generator without a window.
   *
   * @throws {PolyflakeError} `invalid_type`; `out_of_range` for an end before the window's start; `time_out_of_range`; `unknown_field` in
   * a layout without a timestamp.
   */
  extendWindow(end: Date | number): void {
    attached(isObject(this) && #kept in this);
    const later = time(end, "end");
    this.#kept.machine.numbers[2] = later;
    this.#kept.call("layoutExtendWindow");
    this.#claim.end = Math.max(this.#claim.end, later);
  }

  /** Figures of now. */
  stats(): Stats {
    attached(isObject(this) && #kept in this);
    const message = new MessageReader(this.#kept.call("layoutStats"));
    return withJson({ lastMs: message.integer(), len: message.integer()!, closed: message.value() as boolean });
  }

  /**
   * Ends the generator and gives the snapshot to restore from, once.
   *
   * @throws {PolyflakeError} `generator_closed` if it was.
   */
  close(): Snapshot {
    attached(isObject(this) && #kept in this);
    const snapshot = jsonOf(new MessageReader(this.#kept.call("layoutClose"))) as Snapshot;
    this.#claim.end = -Infinity;
    return snapshot;
  }

  /** One ID if there is one now. */
  #now(bindables: unknown): IdOf<K> {
    this.#put(bindables);
    return idOf(this.#kept.call("layoutTryGenerate"), this.layout.isInteger);
  }

  /** Makes one ID, waiting for it if need be, and gives its bytes. */
  #later(bindables: unknown, signal: Signal | undefined, made?: number): Promise<Uint8Array> {
    this.#put(bindables);
    return this.#kept.later("layoutOneAsync", answerOf, signal, made);
  }

  /** Makes so many IDs; those there are for now, where it may not wait. */
  #fill(count: number, bindables: unknown, made: number, waits: boolean): Uint8Array {
    this.#put(bindables);
    const m = this.#kept.ready();
    m.numbers[2] = count;
    this.#kept.check(waits ? m.calls.layoutFill() : m.calls.layoutFillNow(), made);
    return answerOf(m);
  }

  /** Puts bindables where the next call finds them. */
  #put(bindables: unknown): void {
    const message = new ValuesWriter();
    message.bindables(bindables);
    message.put(this.#kept.machine);
  }
}
