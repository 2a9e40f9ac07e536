/** The slots of the scratch area, which take no index but those of protocol.ts, and of these only the records of a call. */
import type { IntegerSlot, NumberSlot, RecordName } from "./protocol.js";

/** Stands for a missing value. */
export const ABSENT = NaN;

declare const taken: unique symbol;
declare const given: unique symbol;

/** Indices of the slots of records. */
type NumberIn<R extends RecordName> = R extends R ? NumberSlot<R> : never;
type IntegerIn<R extends RecordName> = R extends R ? IntegerSlot<R> : never;

/** The names of records, in a type without values: the other members of its kind do not tell records apart. */
type Names<R extends RecordName> = { readonly [Name in R]: true };

/** The slots of the records that a call reads, as floats. */
export type Floats<R extends RecordName> = { [Slot in NumberIn<R>]: number } & { readonly [taken]: Names<R> };

/** The slots of the records that a call writes, as floats. */
export type FloatAnswers<R extends RecordName> = { readonly [Slot in NumberIn<R>]: number } & {
  readonly [given]: Names<R>;
};

/** The slots of the records that a call reads, as integers of 64 bits. */
export type Integers<R extends RecordName> = { [Slot in IntegerIn<R>]: bigint } & { readonly [taken]: Names<R> };

/** The slots of the records that a call writes, as integers of 64 bits. */
export type IntegerAnswers<R extends RecordName> = { readonly [Slot in IntegerIn<R>]: bigint } & {
  readonly [given]: Names<R>;
};

/** The slots of a record, by name. */
type Slots = Readonly<Record<string, NumberSlot<RecordName>>>;

/** The record of slots. */
type RecordOf<S extends Slots> = S[keyof S] extends NumberSlot<infer R> ? R : never;

/** A number for each slot of a record. */
export type ValuesOf<S extends Slots> = { readonly [Name in keyof S]: number };

/** Writes all slots of a record that a call reads. */
export function put<S extends Slots>(numbers: Floats<RecordOf<S>>, record: S, values: ValuesOf<S>): void {
  const all = numbers as { [slot: NumberSlot<RecordName>]: number };
  for (const name of Object.keys(record)) all[record[name]!] = values[name]!;
}

/** Reads all slots of a record that a call wrote. */
export function take<S extends Slots>(numbers: FloatAnswers<RecordOf<S>>, record: S): ValuesOf<S> {
  const all = numbers as { readonly [slot: NumberSlot<RecordName>]: number };
  const values = Object.entries(record).map(([name, slot]) => [name, all[slot]]);
  return Object.fromEntries(values) as ValuesOf<S>;
}
