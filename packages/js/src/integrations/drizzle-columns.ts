/**
 * The part of `polyflake/drizzle` that does not import Drizzle. In Node, the ES module and the CommonJS file for Drizzle share
 * it, so that a process has one copy of it, although each imports its own copy of Drizzle.
 */
import type { ColumnForm } from "./columns.js";
import * as forms from "./columns.js";
import { type PublicType, publicInt64 } from "./public.js";

export { PolyflakeError } from "../errors.js";

/**
 * The PostgreSQL type for each kind of column (`ColumnForm.column`). The next two constants contain the types for MySQL and
 * SQLite.
 */
export const PG_TYPES = { text16: 'varchar(16) COLLATE "C"', bytes10: "bytea", uuid: "uuid", int64: "bigint" } as const;
export const MYSQL_TYPES = {
  text16: "char(16) CHARACTER SET ascii COLLATE ascii_bin",
  bytes10: "binary(10)",
  bytes16: "binary(16)",
  int64: "bigint",
} as const;
export const SQLITE_TYPES = {
  text16: "text",
  bytes10: "blob",
  bytes16: "blob",
  uuid: "text",
  int64: "integer",
} as const;

/** A form for any type of ID. */
type AnyForm = ColumnForm<unknown, unknown, string>;

/** The parameters of a column. */
interface Column {
  dataType: () => string;
  toDriver: (id: unknown) => unknown;
  fromDriver: (value: unknown) => unknown;
}

/** Returns the functions that create a database's columns, by form name. */
export function createColumns<Columns>(
  types: Readonly<Record<string, string>>,
  make: (column: Column) => unknown,
): Columns {
  // In CommonJS, `forms` also has a `default` property, which is not a form.
  const all: [name: string, form: AnyForm][] = Object.entries(forms);
  const held = all.filter(([, { column }]) => column in types);
  const createColumn = ({ column, to, from }: AnyForm) =>
    make({ dataType: () => types[column]!, toDriver: to, fromDriver: from });
  return {
    ...Object.fromEntries(held.map(([name, form]) => [name, createColumn(form)])),
    publicInt64: (type: PublicType<string>) => createColumn(publicInt64(type) as AnyForm),
  } as Columns;
}
