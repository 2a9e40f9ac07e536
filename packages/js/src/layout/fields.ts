/** The types of the values that calls accept and return for an ID's fields. */
import type { BindableInputs, IfBindables, RejectNamesIfEmpty } from "./bindables.js";
import type { Kind } from "./description.js";
import type { Value, Values } from "./values.js";

/** A layout's ID: a signed 64-bit integer, or bytes. */
export type IdOf<K extends Kind> = K extends "integer" ? bigint : Uint8Array;

/**
 * Values for one ID: the time, the sequence number, all bindable fields, and values that override the layout's constants.
 */
export type PackValues<Bindables extends Values = Values> = FixedValues &
  IfBindables<
    Bindables,
    { bindables?: BindableInputs<Bindables> & RejectNamesIfEmpty<Bindables> },
    { bindables: BindableInputs<Bindables> }
  >;

interface FixedValues {
  /** The time, as a Date or Unix milliseconds, rounded down to the layout's tick. */
  timestamp?: Date | number | bigint;
  /** The sequence number. */
  sequence?: number | bigint;
  /** Values, by field name, that override the layout's constants in this ID. */
  constants?: Values;
}

/**
 * The fields of an ID. An integer is a number in a field of at most 53 bits, and a bigint in a wider field. Bytes are
 * returned without leading zeros.
 */
export interface Parsed<Bindables extends Values = Values> {
  /** The start of the ID's tick, in Unix milliseconds, rounded down; undefined if the layout has no timestamp. */
  unixMs: bigint | undefined;
  /**
   * The start of the ID's tick as a Date; null if a Date cannot represent the time; undefined if the layout has no timestamp.
   */
  timestamp: Date | null | undefined;
  /** The sequence number; undefined if the layout has no sequence. */
  sequence: number | bigint | undefined;
  /** The values of the bindable fields, by name, starting with the most significant field. */
  bindables: { -readonly [Name in keyof Bindables]: Bindables[Name] };
  /** The values of the constant fields in this ID, by name, starting with the most significant field. */
  constants: Record<string, Value>;
}
