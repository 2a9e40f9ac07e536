/** Reads and writes slots in the scratch area by the names in a record. */

/** The number that represents a missing value. */
export const ABSENT = NaN;

/** A record: the index of a slot for each name. */
type Slots = Readonly<Record<string, number>>;

/** A number for each slot in a record. */
export type ValuesOf<S extends Slots> = { readonly [Name in keyof S]: number };

/** Writes a value to each slot in a record. */
export function put<S extends Slots>(numbers: Float64Array, record: S, values: ValuesOf<S>): void {
  for (const name of Object.keys(record)) numbers[record[name]!] = values[name]!;
}

/** Reads the value of each slot in a record. */
export function take<S extends Slots>(numbers: Float64Array, record: S): ValuesOf<S> {
  const values = Object.entries(record).map(([name, slot]) => [name, numbers[slot]]);
  return Object.fromEntries(values) as ValuesOf<S>;
}
