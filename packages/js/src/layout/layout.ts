import { load } from "#machine/layout";
import {
  ABSENT,
  arrayLength,
  attached,
  byteRange,
  checkSigned,
  checkString,
  checkTime,
  isBytes,
  isObject,
  runWithDates,
} from "../checks.js";
import { fromDecimal, MAX_DIGITS } from "../decode/snowflake.js";
import { type Description, readDescription } from "../describe.js";
import { invalidType, PolyflakeError } from "../errors.js";
import { Handle } from "../handle.js";
import { type Schema, schemaOf } from "../integrations/standard.js";
import { loadOnDemand, type Machine } from "../machine.js";
import { MessageReader, MessageWriter, readAnswerBytes } from "../message.js";
import { register } from "../protocol.js";
import { addDisplay, fromHex, parseDecimal, withJson } from "../show.js";
import type { LayoutArray, PackedOf } from "./array.js";
import type {
  BindableInputs,
  BindablesOf,
  BindablesOfPreset,
  IfBindables,
  PresetBindables,
  RejectNamesIfEmpty,
} from "./bindables.js";
import { type PackColumns, type ParsedColumns, packColumns, parseColumns } from "./columns.js";
import { type Field, jsonOf, type Kind, type LayoutDescription, parseJson, toMessage } from "./description.js";
import type { IdOf, PackValues, Parsed } from "./fields.js";
import { valuesFromJson } from "./parsed.js";
import { NUMBER_BITS, type Value, type Values, ValuesWriter } from "./values.js";

/** The names of the presets, which are the layouts of well-known services. */
export type PresetName = keyof PresetBindables;

/** The backend of this format. Field names are not converted to camel case, because users choose them. */
export const machine = /* @__PURE__ */ loadOnDemand(load, (field) => field);

/**
 * A backend call that creates a layout, together with the message for that call. When a layout is created from JSON or from
 * a preset, a `LayoutState` is passed to the constructor instead of a description.
 */
class LayoutState {
  constructor(
    readonly build: "layoutBuild" | "layoutPresetBuild",
    readonly message: MessageWriter,
  ) {}
}

/** Returns the backend state of a layout, which generators need, or undefined for any other object. */
let handleOf: (layout: object) => Handle | undefined;

/** A layout without the types that the constructor infers from a description. */
class AnyLayout<K extends Kind = Kind, Bindables extends Values = Values> {
  static readonly name: string = "Layout";

  declare readonly toJSON: () => LayoutDescription<K>;
  readonly #handle: Handle;
  readonly #figures: Description;
  readonly #isInteger: boolean;
  #schema: Schema<IdOf<K> | string, IdOf<K>> | undefined;

  static {
    handleOf = (layout) => (#handle in layout ? layout.#handle : undefined);
  }

  constructor(description: unknown) {
    const { build, message } =
      description instanceof LayoutState
        ? description
        : new LayoutState("layoutBuild", toMessage(description, MessageWriter));
    const loaded = machine();
    const m = loaded;
    this.#handle = new Handle(loaded, () => message.put(m), m.calls[build]);
    this.#isInteger = m.numbers[register.answer] === 1;
    this.#figures = readDescription(this.#handle.call("layoutDescribe"));
    addDisplay(this, descriptionJson, inspectLayout);
  }

  static fromJson(text: string): AnyLayout {
    return AnyLayout.#made("layoutBuild", toMessage(parseJson(text), MessageWriter));
  }

  static preset(name: PresetName, fields: Values = {}): AnyLayout {
    const message = new ValuesWriter();
    message.name(checkString(name, "name"));
    message.pairs(fields, "fields");
    return AnyLayout.#made("layoutPresetBuild", message);
  }

  static #made(build: LayoutState["build"], message: MessageWriter): AnyLayout {
    return new AnyLayout(new LayoutState(build, message));
  }

  /** Returns the description as a JSON string. Equal layouts have the same string in every language. */
  toJson(): string {
    attached(isObject(this) && #handle in this);
    return describeAsJson(this.#handle);
  }

  /** The number of bits in an ID. */
  get bits(): number {
    attached(isObject(this) && #handle in this);
    return this.#figures.bits;
  }

  /** `true` if IDs are integers, `false` if they are bytes. */
  get isInteger(): boolean {
    attached(isObject(this) && #handle in this);
    return this.#isInteger;
  }

  /**
   * Returns the ID with the given field values. The caller must ensure that no two calls return the same ID.
   *
   * @throws {PolyflakeError} `unknown_field`, `missing_field` or `out_of_range` with the `field` if a value has an unknown
   * name, is missing or does not fit its field; `invalid_character` with the `field` if a string has lone surrogates;
   * `invalid_type` if a value has the wrong type; `time_out_of_range` if the time does not fit in the timestamp.
   */
  pack(...values: IfBindables<Bindables, [values?: PackValues<Bindables>], [values: PackValues<Bindables>]>): IdOf<K>;
  pack(values: unknown = {}): IdOf<K> {
    attached(isObject(this) && #handle in this);
    const message = new ValuesWriter();
    message.all(values);
    const m = this.#handle.machine;
    message.put(m);
    return idOf(
      runWithDates(message.times, () => this.#handle.call("layoutPack")),
      this.#isInteger,
    );
  }

  /**
   * Returns the fields of an ID. Unused bits are ignored. An integer ID can also be passed as a decimal string, which is the
   * form that most web APIs use.
   *
   * ```js
   * layout.Layout.preset("discord").parse("175928847299117063").timestamp; // 2016-04-30T11:18:25.796Z
   * ```
   *
   * @throws {PolyflakeError} `invalid_type` if the ID has the wrong type, such as a number, which may have been rounded;
   * `out_of_range` unless it fits in a signed 64-bit integer; `invalid_length` if the bytes have the wrong length;
   * `time_out_of_range` if the time does not fit in 64-bit milliseconds; `invalid_character` if a text field is not UTF-8 or
   * the string is not a canonical decimal number.
   */
  parse(id: IdOf<K> | (K extends "integer" ? string : never)): Parsed<Bindables> {
    attached(isObject(this) && #handle in this);
    putId(this.#handle.machine, id, this.#isInteger);
    const message = new MessageReader(this.#handle.call("layoutParse"));
    const { fields } = this.#figures;
    const bitsOf = (kind: string): number => fields.find((field) => field.kind === kind)?.bits ?? 0;
    const unixMs = message.integer();
    const sequence = readValue(message, bitsOf("sequence")) as number | bigint | undefined;
    const named = (kind: string): Record<string, Value> =>
      Object.fromEntries(
        fields
          .filter((field) => field.kind === kind)
          .map(({ name, bits }) => [name, readValue(message, bits) as Value]),
      );
    return withJson({
      unixMs,
      timestamp: toDate(unixMs),
      sequence,
      bindables: named("bindable") as Bindables,
      constants: named("constant"),
    });
  }

  /**
   * Restores the result of {@link Layout.parse} from its JSON representation.
   *
   * ```js
   * const discord = layout.Layout.preset("discord");
   * const text = JSON.stringify(discord.parse(175928847299117063n));
   * discord.parsedFromJson(JSON.parse(text)).unixMs; // 1462015105796n
   * ```
   *
   * @throws {PolyflakeError} the same errors as {@link Layout.pack}; `invalid_type` if a value is not the JSON representation
   * of a field's value.
   */
  parsedFromJson(json: unknown): Parsed<Bindables> {
    attached(isObject(this) && #handle in this);
    const { fields } = descriptionJson.call(this);
    const values = valuesFromJson(json, this.#figures.fields, fields);
    // If a tick is not a whole number of milliseconds, it can begin between two milliseconds, so keep the given timestamp.
    const unixMs = values.timestamp;
    return withJson({
      ...this.parse((this as AnyLayout<K>).pack(values as PackValues)),
      unixMs,
      timestamp: toDate(unixMs),
    });
  }

  /**
   * Returns many IDs with the given field values. A column has one value per ID. Any other value applies to all IDs.
   *
   * ```js
   * const discord = layout.Layout.preset("discord", { worker: 1, process: 2 });
   * const ids = discord.packColumns({ timestamp: Date.now(), sequence: new Float64Array([0, 1, 2]) });
   * discord.parseColumns(ids.packed).sequence; // Float64Array [0, 1, 2]
   * ```
   *
   * @throws {PolyflakeError} the same errors as {@link Layout.pack}, with the `item` if the value comes from a column;
   * `invalid_length` if the columns differ in length; `invalid_type` if no column is passed, or if a field cannot have one;
   * `out_of_range` for more than 256 MiB of IDs.
   */
  packColumns(values: PackColumns<Bindables>): LayoutArray<K> {
    attached(isObject(this) && #handle in this);
    return packColumns(this.#handle, this, values);
  }

  /**
   * Returns the fields of many packed IDs as columns.
   *
   * ```js
   * const { unixMs, bindables } = layout.Layout.preset("discord").parseColumns(new BigInt64Array([175928847299117063n]));
   * [unixMs[0], bindables.worker[0]]; // [1462015105796n, 1]
   * ```
   *
   * @throws {PolyflakeError} `invalid_type` if the IDs have the wrong type; `invalid_length` if the number of bytes is not
   * a multiple of the ID's length; `time_out_of_range` with the `item` if a time does not fit in 64-bit milliseconds.
   */
  parseColumns(packed: PackedOf<K>): ParsedColumns<Bindables> {
    attached(isObject(this) && #handle in this);
    return parseColumns(this.#handle, this.#figures, this.#isInteger, packed) as ParsedColumns<Bindables>;
  }

  /**
   * Returns the lowest and the highest ID in the half-open time range `start`..`end`, for BETWEEN queries. Both IDs belong to
   * the range, so you can use them directly with BETWEEN. Times are Dates or integer Unix milliseconds. An ID is in the range
   * if its tick begins in the range.
   *
   * @param bindables Values for the bindable fields that are more significant than the timestamp. The range covers all values
   *   of the other bindable fields.
   * @throws {PolyflakeError} `time_out_of_range` if the range does not fit in the timestamp; `out_of_range` if the range is
   * reversed, contains no tick or crosses the sign bit, or if the layout's sequence is more significant than its timestamp;
   * `missing_field` or `unknown_field` if a value is missing or has an unknown name.
   */
  timeRange(
    start: Date | number,
    end: Date | number,
    bindables: Partial<BindableInputs<Bindables>> & RejectNamesIfEmpty<Bindables> = {} as never,
  ): { lowest: IdOf<K>; highest: IdOf<K> } {
    attached(isObject(this) && #handle in this);
    const range = [checkTime(start, "start"), checkTime(end, "end")];
    const message = new ValuesWriter();
    message.bindables(bindables);
    const m = this.#handle.machine;
    message.put(m);
    m.numbers.set(range, register.value);
    const answer = new MessageReader(runWithDates([start, end], () => this.#handle.call("layoutTimeRange")));
    const [lowest, highest] = [answer.value(), answer.value()];
    return { lowest: lowest as IdOf<K>, highest: highest as IdOf<K> };
  }

  /**
   * The schema for the layout's IDs, for libraries that support Standard Schema. It accepts every ID that {@link Layout.parse}
   * reads, and the JSON representation of an ID: a decimal string or, for bytes, a lower-case hexadecimal string.
   */
  get schema(): Schema<IdOf<K> | string, IdOf<K>> {
    attached(isObject(this) && #handle in this);
    const [pattern, example] = this.#isInteger
      ? ["^(0|-?[1-9][0-9]{0,18})$", "1541815603606036480"]
      : [`^[0-9a-f]{${this.bits / 4}}$`, "0".repeat(this.bits / 4)];
    this.#schema ??= schemaOf((value) => this.#read(value), [pattern, example]);
    return this.#schema;
  }

  /** Converts a value, which is an ID or its JSON representation, to the ID. */
  #read(value: unknown): IdOf<K> {
    const id = (typeof value === "string" ? idFromText(value, this.#isInteger) : value) as IdOf<K>;
    this.parse(id);
    return id;
  }

  /** Returns the size, fields, rate and time span of the layout's IDs. */
  describe(): Description {
    attached(isObject(this) && #handle in this);
    const { fields, ...figures } = this.#figures;
    return withJson({ ...figures, fields: fields.map((field) => ({ ...field })) });
  }
}

/**
 * The layout of an ID: its fields and their widths in bits.
 *
 * `Bindables` maps the names of the bindable fields to the types of their values. By default, any names are accepted.
 */
export interface Layout<K extends Kind = Kind, Bindables extends Values = Values> extends AnyLayout<K, Bindables> {
  /** Returns the JSON representation, which is the description that the constructor accepts. */
  readonly toJSON: () => LayoutDescription<K>;
}

/** A type that rejects properties that fields do not have, because a misspelled property would be silently ignored. */
type RejectUnknownMembers<Fields extends readonly Field[]> = [UnknownMembers<Fields[number]>] extends [never]
  ? unknown
  : readonly { readonly [Name in UnknownMembers<Fields[number]>]?: never }[];
type UnknownMembers<One> = Exclude<MembersOf<One>, MembersOf<Field>>;
type MembersOf<One> = One extends unknown ? keyof One : never;

/** The type of the {@link Layout} constructor, which creates layouts from descriptions, JSON and presets. */
export interface LayoutConstructor {
  /**
   * Creates a layout from a description.
   *
   * @throws {PolyflakeError} `invalid_layout` if the description is invalid; `out_of_range` with the `field` if a constant
   * or a start value does not fit its field.
   */
  new <K extends Kind = Kind, const Fields extends readonly Field[] = readonly Field[]>(
    description: LayoutDescription<K, Fields & RejectUnknownMembers<Fields>>,
  ): Layout<K, BindablesOf<Fields>>;

  /** The prototype of all layouts. */
  readonly prototype: Layout;

  /**
   * Creates a layout from a JSON string that contains its description. The compiler accepts any names for the layout's bindable
   * fields.
   *
   * @throws {PolyflakeError} `invalid_type` unless the argument is a string; otherwise the same errors as the constructor.
   */
  fromJson(text: string): Layout;

  /**
   * Returns the layout of a well-known service. The name is case-insensitive. The `mastodon` and `baidu` layouts can be used
   * only to read IDs. No generator can be created from them.
   *
   * ```js
   * layout.Layout.preset("twitter").parse(1541815603606036480n).timestamp; // 2022-06-28T16:07:40.105Z
   * ```
   *
   * @param fields Values for machine fields that are the same in every ID, so that you do not have to pass them each time.
   * @throws {PolyflakeError} `invalid_layout` if the name is unknown; `unknown_field` or `out_of_range` with the `field` if a
   * value has an unknown name or does not fit; `invalid_type` if an argument has the wrong type.
   */
  preset<Name extends PresetName, Fixed extends keyof PresetBindables[Name] = never>(
    name: Name,
    fields?: Pick<BindableInputs<PresetBindables[Name]>, Fixed>,
  ): Layout<"integer", BindablesOfPreset<Name, Fixed>>;
}

/**
 * The layout of an ID: its fields and their widths in bits.
 *
 * ```js
 * const snowflakes = new layout.Layout({
 *   id: "integer",
 *   bits: 64,
 *   fields: [
 *     { kind: "unused", bits: 1 },
 *     { kind: "timestamp", bits: 41, tick: "1ms", epoch_ms: 1483228800000 },
 *     { kind: "constant", bits: 5, name: "data-center-id", value: 1 },
 *     { kind: "bindable", bits: 5, name: "worker" },
 *     { kind: "sequence", bits: 12 },
 *   ],
 * });
 * snowflakes.pack({ timestamp: 1483228800001, sequence: 1, bindables: { worker: 2 } }); // 4333569n
 * snowflakes.parse(4333569n).bindables; // { worker: 2 }
 * ```
 */
export const Layout = AnyLayout as unknown as LayoutConstructor;

/**
 * Returns a layout's handle, for the call that creates a generator.
 *
 * @throws {PolyflakeError} `invalid_type` unless the value is a layout from this copy of the package.
 */
export function layoutHandle(value: unknown): Handle {
  const handle = typeof value === "object" && value !== null ? handleOf(value) : undefined;
  if (handle) return handle;
  throw invalidType("Layout of this copy of the package", value, { field: "layout" });
}

/** Returns the description of a layout as a JSON string. */
export function describeAsJson(handle: Handle): string {
  return JSON.stringify(jsonOf(new MessageReader(handle.call("layoutDescription"))));
}

/** Returns the ID from the result of a call. */
export function idOf<K extends Kind>(m: Machine, isInteger: boolean): IdOf<K> {
  return (isInteger ? m.bigints[register.answer]! : readAnswerBytes(m)) as IdOf<K>;
}

/** Converts a decimal or hexadecimal string to an ID. */
function idFromText(text: string, isInteger: boolean): bigint | Uint8Array {
  const id = isInteger ? (text.length <= MAX_DIGITS ? parseDecimal(text) : undefined) : fromHex(text);
  if (id !== undefined) return id;
  const expected = isInteger ? "an integer of 64 bits in decimal digits" : "bytes in hex of lower case";
  throw new PolyflakeError("not_canonical", `expected ${expected}, found another text`);
}

/** Writes an integer ID or a byte ID for a call. */
function putId(m: Machine, id: unknown, isInteger: boolean): void {
  if (isBytes(id)) {
    const message = new MessageWriter();
    message.raw(byteRange(id, 0, arrayLength(id)));
    message.put(m);
  } else {
    m.numbers[register.length] = ABSENT;
    m.bigints[register.value] = checkSigned(isInteger && typeof id === "string" ? fromDecimal(id) : id, "id");
  }
}

/** Returns the next value in a message, for a field of `bits` bits. */
function readValue(message: MessageReader, bits: number): Value | undefined {
  const value = message.value() as bigint | string | Uint8Array | undefined;
  return typeof value === "bigint" && bits <= NUMBER_BITS ? Number(value) : value;
}

/** Returns a time as a Date, or null if a Date cannot represent it. */
function toDate(unixMs: bigint | undefined): Date | null | undefined {
  if (unixMs === undefined) return undefined;
  const date = new Date(Number(unixMs));
  return Number.isNaN(date.getTime()) ? null : date;
}

function descriptionJson(this: { toJson(): string }): LayoutDescription {
  return JSON.parse(this.toJson()) as LayoutDescription;
}

function inspectLayout(this: { toJson(): string }): string {
  return `Layout ${this.toJson()}`;
}
