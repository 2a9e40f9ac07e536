/** The slots of the scratch area, which take no index but those of protocol.ts. */
import type { IntegerSlot, NumberSlot } from "./protocol.js";

/** The slots as floats. */
export interface Floats {
  [slot: NumberSlot]: number;
}

/** The slots as integers of 64 bits. */
export interface Integers {
  [slot: IntegerSlot]: bigint;
}

/** The slots of a record, by name. */
type Slots = Readonly<Record<string, NumberSlot>>;

/** A number for each slot of a record. */
export type ValuesOf<R extends Slots> = { readonly [Name in keyof R]: number };

/** Writes all slots of a record. */
export function put<R extends Slots>(numbers: Floats, record: R, values: ValuesOf<R>): void {
  for (const name of Object.keys(record)) numbers[record[name]!] = values[name]!;
}

/** Reads all slots of a record. */
export function take<R extends Slots>(numbers: Floats, record: R): ValuesOf<R> {
  const values = Object.entries(record).map(([name, slot]) => [name, numbers[slot]]);
  return Object.fromEntries(values) as ValuesOf<R>;
}
