/** The forms in which columns store IDs. */

/** A missing ID, which is represented in the same way in programs and in databases. */
type Nullish = null | undefined;

/**
 * A form in which a column stores IDs. It has the same functions as TypeORM's value transformers. Null and undefined are
 * returned unchanged.
 *
 * @typeParam Id The type of an ID in the program.
 * @typeParam Stored The type of the value that the driver accepts for the ID.
 */
export interface Form<Id, Stored> {
  /**
   * Returns the value to store for an ID.
   *
   * @throws {PolyflakeError} `invalid_type`, `invalid_length`, `invalid_character` or `out_of_range` if the value is not an ID.
   */
  readonly to: <Given extends Id | Nullish>(id: Given) => Stored | Extract<Given, Nullish>;
  /**
   * Returns the ID for a stored value that the driver returned.
   *
   * @throws {PolyflakeError} the same errors as {@link Form.to} if the value does not contain an ID, or if it is a number that
   * may have been rounded.
   */
  readonly from: (value: unknown) => Id;
}

/** A form from this package, together with the kind of column that it needs. */
export interface ColumnForm<Id, Stored, Column extends string> extends Form<Id, Stored> {
  /**
   * The kind of column: `text16` for 16 characters, `bytes10` for 10 bytes, `bytes16` for 16 bytes, `uuid`,
   * `uniqueidentifier` (SQL Server), or `int64`. Databases without a UUID type store `uuid` as a string.
   */
  readonly column: Column;
}

/** Creates a form from two functions, which are never called with null or undefined. */
export function createForm<Id, Stored, Column extends string>(
  column: Column,
  to: (id: Id) => Stored,
  from: (value: unknown) => Id,
): ColumnForm<Id, Stored, Column> {
  const isNullish = (value: unknown): value is never => value === null || value === undefined;
  return {
    column,
    to: (id) => (isNullish(id) ? id : to(id as Id)),
    from: (value) => (isNullish(value) ? value : from(value)),
  };
}
