import { attached, checkBoolean, checkInteger, checkString, checkUnsigned, isObject, runWithDates } from "../checks.js";
import { PolyflakeError } from "../errors.js";
import { WindowGenerator } from "../generator.js";
import { Handle } from "../handle.js";
import { type AnyLease, createLeasedHandle, readLease, rejectLeased } from "../leased.js";
import { members } from "../members.js";
import { MessageReader, readAnswerBytes } from "../message.js";
import { putOptions, readSharedSettings, WINDOW_OPTIONS, type WindowOptions } from "../options.js";
import { register } from "../protocol.js";
import { shareHandle } from "../sharing.js";
import { withJson } from "../show.js";
import { arrayOf, type LayoutArray, maxBatchSize, maxCount } from "./array.js";
import type { BindableInputs, BindablesParameter, OmitFixed, RejectNamesIfEmpty } from "./bindables.js";
import { type Field, jsonOf, type Kind, toMessage } from "./description.js";
import type { IdOf } from "./fields.js";
import { describeAsJson, idOf, Layout, layoutHandle, machine } from "./layout.js";
import { type Values, ValuesWriter } from "./values.js";

/** Options for a generator for a layout with the given bindable fields. */
export type GeneratorOptions<
  Bindables extends Values = Values,
  Fixed extends keyof Bindables = keyof Bindables,
  Ranged extends keyof Bindables = keyof Bindables,
> = WindowOptions &
  (
    | OwnOptions<Bindables, Fixed, Ranged>
    | (LeasedOptions<Fixed> & { bindables?: never; range?: never; sequenceOnly?: never })
  );

/** Options for a generator with a lease. */
interface LeasedOptions<Fixed> {
  lease: AnyLease;
  /**
   * The names of the constant or bindable fields that hold the leased worker ID, starting with the most significant one. All
   * other bindable fields must have a value.
   */
  fields: readonly (Fixed | (string & {}))[];
}

/** Options for a generator without a lease. */
interface OwnOptions<Bindables extends Values, Fixed extends keyof Bindables, Ranged extends keyof Bindables> {
  lease?: never;
  fields?: never;
  /** Values for those bindable fields that have the same value in every ID. Pass the values of the other fields for each ID. */
  bindables?: Pick<BindableInputs<Bindables>, Fixed> & RejectNamesIfEmpty<Bindables>;
  /**
   * The name of a bindable field, and the first and the last value that this generator can use for it. No other generator may
   * use any value in this range. When a value has no sequence numbers left in a tick, the generator continues with the next
   * value, so the rate grows with the size of the range.
   *
   * The bindable field must be positioned between the timestamp and the sequence, with the timestamp as the most
   * significant of the three. The sequence must start at 0, and neither the bindable field nor the sequence can be
   * inverted. A restored generator starts in the tick after the snapshot's tick.
   */
  range?: readonly [bindable: Ranged, first: number | bigint, last: number | bigint];
  /**
   * Whether to allow a layout without a timestamp. The generator then uses each sequence number once, from the start value to
   * the maximum.
   */
  sequenceOnly?: boolean;
}

/**
 * The state of a closed generator. Restore a generator from it only once, because a second restored generator would
 * generate duplicate IDs.
 *
 * A snapshot is plain JSON and has the same members in every language. Integers above 2^53 are decimal strings.
 */
export interface Snapshot {
  /** The version of the snapshot format. */
  format?: number;
  /** The last tick used, counted in ticks since the timestamp's epoch; 0 if the layout has no timestamp. */
  tick: number | string;
  /** The next sequence number in the last tick, or one past the field's maximum if that tick's sequence numbers are used up. */
  next_sequence: number | string;
}

/** A generator's statistics at one point in time. */
export interface Stats {
  /**
   * The start of the last tick used, in Unix milliseconds; undefined before the first ID, and if the layout has no timestamp.
   */
  lastMs: bigint | undefined;
  /** The number of IDs allocated in the last tick, or in total if the layout has no timestamp. */
  len: bigint;
  /** `true` if the generator is closed. */
  closed: boolean;
}

const OPTIONS = ["bindables", "range", "sequenceOnly", "fields", ...WINDOW_OPTIONS] as const;
/** The options that cannot be combined with a lease. */
const EXCLUDED_WITH_LEASE = ["snapshot", "bindables", "range", "sequenceOnly", "window"];

/** Checks the `range` option, and returns the name of the bindable field and its first and last value. */
function readRange(range: unknown): readonly [name: string, first: bigint, last: bigint] {
  const { 0: name, 1: first, 2: last, length } = members(range, "range", ["0", "1", "2", "length"], "ignored");
  if (length !== 3) {
    const reason = "expected a name, the first and the last number for `range`";
    throw new PolyflakeError("invalid_type", reason, { field: "range" });
  }
  const number = (of: unknown) =>
    checkUnsigned(typeof of === "number" ? BigInt(checkInteger(of, "range")) : of, "range");
  return [checkString(name, "range"), number(first), number(last)];
}

/**
 * Returns the names of the fields that hold the leased worker ID, and a function that returns the layout for a worker ID.
 * In that layout, these fields are constants that contain the worker ID.
 */
function bindWorkerId(layout: Layout, given: unknown): [names: string[], of: (number: number) => Layout] {
  const names = Array.isArray(given) ? given.map((name) => checkString(name, "fields")) : [];
  if (names.length === 0) {
    const reason = "expected the names of the fields that hold the lease's number for `fields`, found none";
    throw new PolyflakeError("missing_field", reason, { field: "fields" });
  }
  const { fields, ...others } = layout.toJSON();
  const isNamed = (field: Field, name: string) => "name" in field && field.name === name;
  const widths = names.map((name) => fields.find((field) => isNamed(field, name))?.bits ?? 0);
  const numbered = (number: number) => {
    let left = number;
    const values = new Map<string, number>();
    for (const [k, name] of [...names.entries()].reverse()) {
      // JavaScript's bitwise operators are limited to 32 bits, but a worker ID may have 52 bits.
      values.set(name, left % 2 ** widths[k]!);
      left = Math.floor(left / 2 ** widths[k]!);
    }
    const of = (field: Field): Field => {
      const name = "name" in field ? field.name : undefined;
      const value = name === undefined ? undefined : values.get(name);
      return value === undefined ? field : { ...field, kind: "constant", type: "integer", value };
    };
    return new Layout({ ...others, fields: fields.map(of) });
  };
  return [names, numbered];
}

/** The properties that all layout generators share. */
const FAMILY = { name: "layout", parameters: 1, packed: readAnswerBytes, filled: readAnswerBytes } as const;

/** The snapshot from which a generator is restored. */
class Origin {
  constructor(readonly snapshot: unknown) {}
}

/**
 * A generator for one layout. The layout must have a sequence and, unless `sequenceOnly` is set, a timestamp.
 *
 * The sequence begins at its start value in each new tick. When all sequence numbers in a tick are used up, calls wait for the
 * next tick. If the clock is behind the last tick used, calls throw without waiting. Two generators with the same layout and
 * the same bindable values generate duplicate IDs.
 *
 * A generator belongs to the thread that created it, so it can be neither cloned nor sent to a worker.
 *
 * `Bindables` are the layout's bindable fields. `Fixed` names the fields that the generator sets, and `Ranged` names the field
 * with a range. You pass the values of all other fields for each ID.
 *
 * ```js
 * const ids = new layout.Generator(layout.Layout.preset("sonyflake"), { bindables: { machine: 7 } });
 * ids.layout.parse(ids.generate()).bindables.machine; // 7
 * ```
 */
export class Generator<
  K extends Kind = Kind,
  Bindables extends Values = Values,
  Fixed extends keyof Bindables = never,
  Ranged extends keyof Bindables = never,
> extends WindowGenerator<BindablesParameter<OmitFixed<Bindables, Fixed | Ranged>>, IdOf<K>, LayoutArray<K>> {
  static override readonly name: string = "Generator";

  /**
   * Returns a new ID with the given values for the bindable fields that the generator does not set.
   *
   * This is a property of each generator, not a method of the class, so that you can detach it and call it as a plain function.
   * The property also prevents the generator from being cloned.
   *
   * @throws {PolyflakeError} `missing_field`, `unknown_field` or `out_of_range` with the `field` if a value is missing, has an
   * unknown name or does not fit; `invalid_type` if a value has the wrong type; `clock_behind` with `retryAt`, without waiting,
   * if the clock is behind the last ID's time; `sequence_exhausted` with `retryAt` if no ID became available within `maxWait`;
   * `lease_not_started` before the window starts; `lease_expired` after it ends; `time_out_of_range` if the time is outside the
   * layout's time range; `clock_failed` with the `cause` if the clock fails; `generator_closed` if the generator is closed.
   */
  declare readonly generate: (...bindables: BindablesParameter<OmitFixed<Bindables, Fixed | Ranged>>) => IdOf<K>;

  /** The layout of the IDs. */
  readonly layout: Layout<K, Bindables>;
  readonly #handle: Handle;

  /**
   * Creates a generator.
   *
   * A process has one live generator for a layout and values of all its bindable fields: equal options return another handle
   * on it, and {@link Generator.close} closes it for all handles.
   *
   * @throws {PolyflakeError} `invalid_layout` if no IDs can be generated from the layout; `unknown_field` or `out_of_range` if
   * an option or a value is invalid, in which case `field` names it; `invalid_type` if an option has the wrong type;
   * `time_out_of_range` if the window is outside the layout's time range; `worker_id_in_use` if a live generator has the values
   * and other options, one of which `field` names.
   */
  constructor(layout: Layout<K, Bindables>, options?: GeneratorOptions<Bindables, Fixed, Ranged>);
  constructor(layout: Layout<K, Bindables>, options: unknown = {}, origin?: unknown) {
    const { shared, clock, sharing, times, given } = readSharedSettings(options, OPTIONS);
    const sequenceOnly = Number(checkBoolean(given.sequenceOnly, "sequenceOnly"));
    const restored = origin instanceof Origin;
    const lease = readLease({ ...given, snapshot: restored || undefined }, EXCLUDED_WITH_LEASE);
    const message = restored ? toMessage(origin.snapshot, ValuesWriter) : new ValuesWriter();
    const before = message.written.length;
    message.pairs(given.bindables, "bindables");
    const fixed = String(message.written.subarray(before));
    const range = given.range === undefined ? undefined : readRange(given.range);
    if (range) message.range(...range);
    const m = machine();
    const identity = sharing && {
      scheme: `layout ${describeAsJson(layoutHandle(layout))}`,
      worker: `${fixed} ${range}`,
      isRange: range !== undefined && range[1] !== range[2],
      option: "bindables",
      options: restored ? undefined : { sequenceOnly, ...sharing },
      ends: shared.windowEnd,
    };
    const build = (of: object, windowStart = shared.windowStart, windowEnd = shared.windowEnd) => {
      const { number } = layoutHandle(of);
      const write = (): void => {
        message.put(m);
        putOptions(m, { ...shared, windowStart, windowEnd }, [sequenceOnly, Number(restored)]);
        m.numbers[register.handle] = number;
      };
      return runWithDates(times, () => new Handle(m, write, m.calls.layoutGeneratorBuild, clock, identity));
    };
    const leased = () => {
      const { fields } = given;
      const [names, numbered] = bindWorkerId(layout, fields);
      return createLeasedHandle(lease!, {
        settings: { family: "layout", layout: layout.toJson(), fields: names },
        clock,
        build: (number, start, end) => build(numbered(number), start, end),
      });
    };
    const handle = lease ? leased() : shareHandle(m, identity, () => build(layout));
    const { bits, isInteger } = layout;
    super(handle, {
      ...FAMILY,
      size: bits / 8,
      batch: maxBatchSize(bits / 8),
      most: maxCount(bits / 8),
      ready: (bindables) => {
        const message = new ValuesWriter();
        message.bindables(bindables);
        message.put(m);
        return handle.ready();
      },
      next: () => (m.calls.layoutGenerate() === 0 ? (m.refreshViews(), idOf<K>(m, isInteger)) : undefined),
      one: (m) => idOf<K>(m, isInteger),
      many: (packed) => arrayOf<K>({ bits, isInteger }, packed),
    });
    this.#handle = handle;
    this.layout = layout;
  }

  /**
   * Creates a generator that continues from the snapshot of a closed generator for the same layout. Restore a snapshot only
   * once.
   *
   * @throws {PolyflakeError} the same errors as the constructor; `invalid_layout` unless the argument is a snapshot;
   * `out_of_range` if no generator for the layout could have produced the snapshot.
   */
  static restore<
    K extends Kind,
    Bindables extends Values,
    Fixed extends keyof Bindables = never,
    Ranged extends keyof Bindables = never,
  >(
    layout: Layout<K, Bindables>,
    snapshot: Snapshot,
    options: GeneratorOptions<Bindables, Fixed, Ranged> = {},
  ): Generator<K, Bindables, Fixed, Ranged> {
    type Restored = Generator<K, Bindables, Fixed, Ranged>;
    // The constructor's type hides its third parameter. Code outside this module cannot create an `Origin`.
    const make = Generator as unknown as new (layout: object, options: unknown, origin: Origin) => Restored;
    return new make(layout, options, new Origin(snapshot));
  }

  /** Returns the generator's current statistics. */
  stats(): Stats {
    attached(isObject(this) && #handle in this);
    return withJson(new MessageReader(this.#handle.call("generatorStats")).value() as unknown as Stats);
  }

  /**
   * Closes the generator, for all handles on it, and returns a snapshot from which it can be restored. A second call throws
   * instead of returning the snapshot again.
   *
   * @throws {PolyflakeError} `generator_closed` if the generator is already closed.
   */
  close(): Snapshot {
    attached(isObject(this) && #handle in this);
    rejectLeased(this.#handle);
    return jsonOf(new MessageReader(this.#handle.call("generatorClose"))) as Snapshot;
  }
}
