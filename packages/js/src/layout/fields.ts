/** Types of the fields of an ID, as calls take and return them. */
import type { Given, OrNone, Whether } from "./bindables.js";
import type { Kind } from "./description.js";
import type { Value, Values } from "./values.js";

/** An ID of a layout: a signed integer of 64 bits, or bytes. */
export type IdOf<K extends Kind> = K extends "integer" ? bigint : Uint8Array;

/** Values for one ID: the time, the sequence, all bindables, and constants with other values than in the layout. */
export type PackValues<Bindables extends Values = Values> = FixedValues &
  Whether<Bindables, { bindables?: Given<Bindables> & OrNone<Bindables> }, { bindables: Given<Bindables> }>;

interface FixedValues {
  /** The time: a Date, or Unix milliseconds; floored to the layout's tick. */
  timestamp?: Date | number | bigint;
  /** The sequence. */
  sequence?: number | bigint;
  /** Constants with other values in this ID than in the layout, by name. */
  constants?: Values;
}

/**
 * The fields of an ID. The integer of a field of at most 53 bits is a number, of a wider field a bigint; bytes come without
 * leading zeros.
 */
export interface Parsed<Bindables extends Values = Values> {
  /** Start of its tick, in Unix milliseconds, floored; undefined in a layout without a timestamp. */
  unixMs: bigint | undefined;
  /** Start of its tick as a Date; null for a time that a Date cannot hold. */
  timestamp: Date | null | undefined;
  /** The sequence; undefined in a layout without one. */
  sequence: number | bigint | undefined;
  /** The bindables, by name, from the most significant field on. */
  bindables: { -readonly [Name in keyof Bindables]: Bindables[Name] };
  /** The constants, by name, from the most significant field on, with the values in this ID. */
  constants: Record<string, Value>;
}
