/**
 * Types that describe the names of bindable fields and the types of their values. The compiler infers these types from a
 * description in code or from the name of a preset. A layout from JSON accepts any names, because its fields are not known
 * at compile time. See {@link Values}.
 */
import type { Field } from "./description.js";
import type { Value, Values } from "./values.js";

/**
 * The bindable fields in a list of fields. Any names are accepted if the list is not known at compile time, or if a
 * bindable field has no name.
 */
export type BindablesOf<Fields extends readonly Field[]> = number extends Fields["length"]
  ? Values
  : BindablesIn<Bindable<Fields[number]>>;
type Bindable<One extends Field> = One extends unknown ? ("bindable" extends One["kind"] ? One : never) : never;
type BindablesIn<All extends Field> =
  string extends NameOf<All> ? Values : { [One in All as NameOf<One>]: ValueOf<One> };

/** A field's name, or any string if the name is not known at compile time. */
type NameOf<One extends Field> = One extends { name: infer Name extends string } ? Name : string;

/** The type of a field's value when an ID is read. */
type ValueOf<One extends Field> = One extends { type: infer Type extends "bytes" | "text" }
  ? { bytes: Uint8Array; text: string }[Type]
  : IntegerOf<One["bits"]>;
type IntegerOf<Bits extends number> = number extends Bits
  ? number | bigint
  : `${Bits}` extends SafeIntegerBits
    ? number
    : bigint;

/** The field widths, from 0 to 53 bits, for which integers are represented as numbers instead of bigints. */
type SafeIntegerBits = `${"" | 1 | 2 | 3 | 4}${Digit}` | `5${0 | 1 | 2 | 3}`;
type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** The values that calls accept for bindable fields. Integers can be numbers or bigints. */
export type BindableInputs<Bindables> = { readonly [Name in keyof Bindables]: BindableInput<Bindables[Name]> };
type BindableInput<One> = One extends number | bigint ? number | bigint : One;

/**
 * A type that rejects all names if the layout has no bindable fields. It is needed because the empty object type would
 * accept any name.
 */
export type RejectNamesIfEmpty<Bindables> = [keyof Bindables] extends [never]
  ? { readonly " no bindables"?: Value }
  : unknown;

/**
 * Resolves to `Missing` if the caller can omit the bindable fields, because the layout has no such fields or accepts any
 * names. Otherwise, resolves to `There`.
 */
export type IfBindables<Bindables, Missing, There> = Bindables extends unknown
  ? string extends keyof Bindables
    ? Missing
    : [keyof Bindables] extends [never]
      ? Missing
      : There
  : never;

/** The parameter of a call that accepts values for bindable fields. */
export type BindablesParameter<Bindables> = IfBindables<
  Bindables,
  [bindables?: BindableInputs<Bindables> & RejectNamesIfEmpty<Bindables>],
  [bindables: BindableInputs<Bindables>]
>;

/** The bindable fields whose names are not in `Fixed`. */
export type OmitFixed<Bindables, Fixed extends PropertyKey> = Bindables extends unknown
  ? string extends keyof Bindables
    ? Bindables
    : { [Name in keyof Bindables as Exclude<Name, Fixed>]: Bindables[Name] }
  : never;

/** Each preset's bindable fields. */
export interface PresetBindables {
  twitter: { datacenter: number; worker: number };
  x: { datacenter: number; worker: number };
  discord: { worker: number; process: number };
  instagram: { shard: number };
  sonyflake: { machine: number };
  mastodon: { sequence_data: number };
  baidu: { worker: number };
}

/**
 * The names of all presets except the alias `x`. They are the keys of an object, so that the compiler reports a missing
 * name.
 */
const PRESET_NAMES: Record<Exclude<keyof PresetBindables, "x">, true> = {
  twitter: true,
  discord: true,
  instagram: true,
  sonyflake: true,
  mastodon: true,
  baidu: true,
};

/** Returns the names of the presets. */
export function presets(): (keyof PresetBindables)[] {
  return Object.keys(PRESET_NAMES) as (keyof PresetBindables)[];
}

/**
 * The bindable fields of a preset, except the fields in `Fixed`. If the preset is not known at compile time, any names are
 * accepted.
 */
export type BindablesOfPreset<
  Name extends keyof PresetBindables,
  Fixed extends PropertyKey,
> = keyof PresetBindables extends Name ? Values : OmitFixed<PresetBindables[Name], Fixed>;
