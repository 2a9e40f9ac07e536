/** The forms in which columns hold IDs. */

/** No ID: it is the same in programs and in databases. */
type None = null | undefined;

/**
 * A form in which a column holds IDs, with the functions of TypeORM's value transformers. Null and undefined stay as they are.
 *
 * @typeParam Id An ID in the program.
 * @typeParam Stored The driver's value for it.
 */
export interface Form<Id, Stored> {
  /**
   * The value that is stored for an ID.
   *
   * @throws {PolyflakeError} for a value that is no ID: `invalid_type`, `invalid_length`, `invalid_character`, `out_of_range`.
   */
  readonly to: <Given extends Id | None>(id: Given) => Stored | Extract<Given, None>;
  /**
   * The ID of a value that a driver has read.
   *
   * @throws {PolyflakeError} for a value that holds no ID, as {@link Form.to}; for a number that may have been rounded.
   */
  readonly from: (value: unknown) => Id;
}

/** A form of this package, with the kind of column that holds it. */
export interface ColumnForm<Id, Stored, Column extends string> extends Form<Id, Stored> {
  /**
   * The kind of column: `text16` of 16 characters, `bytes10` and `bytes16` of 10 and 16 bytes, `uuid`, `uniqueidentifier` of SQL
   * Server, `int64`. Databases without a type for UUIDs hold `uuid` as text.
   */
  readonly column: Column;
}

/** The form of two functions, which are not given null. */
export function formOf<Id, Stored, Column extends string>(
  column: Column,
  to: (id: Id) => Stored,
  from: (value: unknown) => Id,
): ColumnForm<Id, Stored, Column> {
  const isNone = (value: unknown): value is never => value === null || value === undefined;
  return {
    column,
    to: (id) => (isNone(id) ? id : to(id as Id)),
    from: (value) => (isNone(value) ? value : from(value)),
  };
}
