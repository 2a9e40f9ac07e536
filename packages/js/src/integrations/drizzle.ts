/**
 * Columns for Drizzle ORM. {@link pg}, {@link mysql} and {@link sqlite} each have one function per storage form that the
 * database supports. Each function creates a column of the type that the form requires. Query parameters are converted,
 * too, so you can pass the result of `sno.timeRange` to `between(orders.id, lowest, highest)`.
 *
 * ```js
 * import { pgTable } from "drizzle-orm/pg-core";
 * import { pg } from "polyflake/drizzle";
 *
 * const orders = pgTable("orders", {
 *   id: pg.snoUuid8().primaryKey().$defaultFn(() => sno.generate(2)),
 *   parent: pg.snoText("parent_id").notNull(),
 *   flake: pg.int64(),
 *   invoice: pg.publicInt64(invoices)(), // a type of polyflake/public, stored as numbers
 * });
 * ```
 *
 * @module
 */
import { customType as mysqlColumn } from "drizzle-orm/mysql-core";
import { customType as pgColumn } from "drizzle-orm/pg-core";
import { customType as sqliteColumn } from "drizzle-orm/sqlite-core";
import type * as forms from "./columns.js";
import type { Form } from "./columns.js";
import { createColumns, MYSQL_TYPES, PG_TYPES, SQLITE_TYPES } from "./drizzle-columns.js";
import type { PublicType } from "./public.js";

export { type ErrorCode, PolyflakeError } from "../errors.js";
export type { Bytes, Form } from "./columns.js";
export type { PublicType } from "./public.js";

/** The types of a column's values, in the program and for the driver. */
interface Types<Id, Stored> {
  data: Id;
  driverData: Stored;
}

/** A function that creates a PostgreSQL column, with or without an explicit name. */
export type PgColumn<Id, Stored> = ReturnType<typeof pgColumn<Types<Id, Stored>>>;
/** A function that creates a MySQL or MariaDB column, with or without an explicit name. */
export type MysqlColumn<Id, Stored> = ReturnType<typeof mysqlColumn<Types<Id, Stored>>>;
/** A function that creates an SQLite column, with or without an explicit name. */
export type SqliteColumn<Id, Stored> = ReturnType<typeof sqliteColumn<Types<Id, Stored>>>;

/** The forms for which a database has a column type. */
type FormsOfKinds<Kinds> = Pick<
  typeof forms,
  {
    [Name in keyof typeof forms]: (typeof forms)[Name]["column"] extends keyof Kinds ? Name : never;
  }[keyof typeof forms]
>;

/** The type that a form's IDs have in the program. */
type IdOf<Name extends keyof typeof forms> = (typeof forms)[Name] extends Form<infer Id, unknown> ? Id : never;

/** The type of the values that a form passes to the driver. */
type StoredOf<Name extends keyof typeof forms> =
  (typeof forms)[Name] extends Form<never, infer Stored> ? Stored : never;

/** The functions that create PostgreSQL columns, by form name. Each form that PostgreSQL supports has one function. */
export type PgColumns = {
  readonly [Name in keyof FormsOfKinds<typeof PG_TYPES>]: PgColumn<IdOf<Name>, StoredOf<Name>>;
} & {
  /** Creates a column for public IDs of one type. Each ID is stored as the number that it represents. */
  readonly publicInt64: <Text extends string>(type: PublicType<Text>) => PgColumn<Text, bigint>;
};

/**
 * The functions that create MySQL and MariaDB columns, by form name. Each form that these databases support has one
 * function.
 */
export type MysqlColumns = {
  readonly [Name in keyof FormsOfKinds<typeof MYSQL_TYPES>]: MysqlColumn<IdOf<Name>, StoredOf<Name>>;
} & {
  /** Creates a column for public IDs of one type. Each ID is stored as the number that it represents. */
  readonly publicInt64: <Text extends string>(type: PublicType<Text>) => MysqlColumn<Text, bigint>;
};

/** The functions that create SQLite columns, by form name. Each form that SQLite supports has one function. */
export type SqliteColumns = {
  readonly [Name in keyof FormsOfKinds<typeof SQLITE_TYPES>]: SqliteColumn<IdOf<Name>, StoredOf<Name>>;
} & {
  /** Creates a column for public IDs of one type. Each ID is stored as the number that it represents. */
  readonly publicInt64: <Text extends string>(type: PublicType<Text>) => SqliteColumn<Text, bigint>;
};

/** The functions that create PostgreSQL columns, by form name. */
export const pg: PgColumns = /* @__PURE__ */ createColumns(PG_TYPES, pgColumn);

/**
 * The functions that create MySQL and MariaDB columns, by form name. Configure the driver to return integers without rounding
 * them: set `supportBigNumbers` and `bigNumberStrings`.
 */
export const mysql: MysqlColumns = /* @__PURE__ */ createColumns(MYSQL_TYPES, mysqlColumn);

/**
 * The functions that create SQLite columns, by form name. If the driver returns numbers, configure it to return integers
 * without rounding them. For example, set `intMode: "bigint"` for libSQL.
 */
export const sqlite: SqliteColumns = /* @__PURE__ */ createColumns(SQLITE_TYPES, sqliteColumn);
