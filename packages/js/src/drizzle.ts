/**
 * Columns for Drizzle ORM: {@link pg}, {@link mysql} and {@link sqlite} have one for each form of an ID, with the database's type
 * for it. Parameters of queries are converted too, so `between(orders.id, lowest, highest)` takes what `sno.timeRange` gives.
 *
 * ```js
 * import { pgTable } from "drizzle-orm/pg-core";
 * import { pg } from "polyflake/drizzle";
 *
 * const orders = pgTable("orders", {
 *   id: pg.snoUuid8().primaryKey().$defaultFn(() => sno.generate(2)),
 *   key: pg.hotguidText("guid").notNull(),
 *   flake: pg.int64(),
 * });
 * ```
 *
 * @module
 */
import { customType as mysqlColumn } from "drizzle-orm/mysql-core";
import { customType as pgColumn } from "drizzle-orm/pg-core";
import { customType as sqliteColumn } from "drizzle-orm/sqlite-core";
import type { Bytes, Form } from "./forms.js";
import * as forms from "./forms.js";
import type { HotGuidId, RandflakeText, SnoId } from "./index.js";

export { type ErrorCode, PolyflakeError } from "./errors.js";
export type { Bytes, Form } from "./forms.js";

/** The types of a column, in the program and for the driver. */
interface Types<Id, Stored> {
  data: Id;
  driverData: Stored;
}

/** Makes a column of PostgreSQL, with or without a name of its own. */
export type PgColumn<Id, Stored> = ReturnType<typeof pgColumn<Types<Id, Stored>>>;
/** Makes a column of MySQL and MariaDB, with or without a name of its own. */
export type MysqlColumn<Id, Stored> = ReturnType<typeof mysqlColumn<Types<Id, Stored>>>;
/** Makes a column of SQLite, with or without a name of its own. */
export type SqliteColumn<Id, Stored> = ReturnType<typeof sqliteColumn<Types<Id, Stored>>>;

/** Columns of PostgreSQL. */
export interface PgColumns {
  /** A sno as 16 characters, compared by their bytes. */
  readonly snoText: PgColumn<SnoId, string>;
  /** A sno as 10 bytes. */
  readonly snoBytes: PgColumn<SnoId, Bytes>;
  /** A sno as a UUID of version 8. */
  readonly snoUuid8: PgColumn<SnoId, string>;
  /** A sno as the UUID of the original's form. */
  readonly snoUuid: PgColumn<SnoId, string>;
  /** A Hot Guid. */
  readonly hotguidText: PgColumn<HotGuidId, string>;
  /** The text of a Randflake, stored as 64 bits. */
  readonly randflakeInt64: PgColumn<RandflakeText, bigint>;
  /** An integer of 64 bits, of a layout or a Randflake. */
  readonly int64: PgColumn<bigint, bigint>;
}

/** Columns of MySQL and MariaDB. */
export interface MysqlColumns {
  /** A sno as 16 characters, compared by their bytes. */
  readonly snoText: MysqlColumn<SnoId, string>;
  /** A sno as 10 bytes. */
  readonly snoBytes: MysqlColumn<SnoId, Bytes>;
  /** A Hot Guid as 16 bytes, in the order of its text. */
  readonly hotguidBytes: MysqlColumn<HotGuidId, Bytes>;
  /** The text of a Randflake, stored as 64 bits. */
  readonly randflakeInt64: MysqlColumn<RandflakeText, bigint>;
  /** An integer of 64 bits, of a layout or a Randflake. */
  readonly int64: MysqlColumn<bigint, bigint>;
}

/** Columns of SQLite. */
export interface SqliteColumns {
  /** A sno as 16 characters. */
  readonly snoText: SqliteColumn<SnoId, string>;
  /** A sno as 10 bytes. */
  readonly snoBytes: SqliteColumn<SnoId, Bytes>;
  /** A sno as the text of a UUID of version 8. */
  readonly snoUuid8: SqliteColumn<SnoId, string>;
  /** A sno as the text of the UUID of the original's form. */
  readonly snoUuid: SqliteColumn<SnoId, string>;
  /** A Hot Guid as its text. */
  readonly hotguidText: SqliteColumn<HotGuidId, string>;
  /** A Hot Guid as 16 bytes. */
  readonly hotguidBytes: SqliteColumn<HotGuidId, Bytes>;
  /** The text of a Randflake, stored as 64 bits. */
  readonly randflakeInt64: SqliteColumn<RandflakeText, bigint>;
  /** An integer of 64 bits, of a layout or a Randflake. */
  readonly int64: SqliteColumn<bigint, bigint>;
}

/** The parameters of a column of a type that holds a form. */
const parametersOf = <Id, Stored>(type: string, { to, from }: Form<Id, Stored>) => ({
  dataType: () => type,
  toDriver: (id: Id) => to(id) as Stored,
  fromDriver: from,
});

const inPg = <Id, Stored>(type: string, form: Form<Id, Stored>): PgColumn<Id, Stored> =>
  pgColumn<Types<Id, Stored>>(parametersOf(type, form));

const inMysql = <Id, Stored>(type: string, form: Form<Id, Stored>): MysqlColumn<Id, Stored> =>
  mysqlColumn<Types<Id, Stored>>(parametersOf(type, form));

const inSqlite = <Id, Stored>(type: string, form: Form<Id, Stored>): SqliteColumn<Id, Stored> =>
  sqliteColumn<Types<Id, Stored>>(parametersOf(type, form));

/** Columns of PostgreSQL. */
export const pg: PgColumns = /* @__PURE__ */ (() => ({
  snoText: inPg('varchar(16) COLLATE "C"', forms.snoText),
  snoBytes: inPg("bytea", forms.snoBytes),
  snoUuid8: inPg("uuid", forms.snoUuid8),
  snoUuid: inPg("uuid", forms.snoUuid),
  hotguidText: inPg("uuid", forms.hotguidText),
  randflakeInt64: inPg("bigint", forms.randflakeInt64),
  int64: inPg("bigint", forms.int64),
}))();

/** Columns of MySQL and MariaDB. The driver must be told to give all bits of integers: `supportBigNumbers`, `bigNumberStrings`. */
export const mysql: MysqlColumns = /* @__PURE__ */ (() => ({
  snoText: inMysql("char(16) CHARACTER SET ascii COLLATE ascii_bin", forms.snoText),
  snoBytes: inMysql("binary(10)", forms.snoBytes),
  hotguidBytes: inMysql("binary(16)", forms.hotguidBytes),
  randflakeInt64: inMysql("bigint", forms.randflakeInt64),
  int64: inMysql("bigint", forms.int64),
}))();

/** Columns of SQLite. A driver that gives numbers must be told to give all bits of integers: libSQL by `intMode: "bigint"`. */
export const sqlite: SqliteColumns = /* @__PURE__ */ (() => ({
  snoText: inSqlite("text", forms.snoText),
  snoBytes: inSqlite("blob", forms.snoBytes),
  snoUuid8: inSqlite("text", forms.snoUuid8),
  snoUuid: inSqlite("text", forms.snoUuid),
  hotguidText: inSqlite("text", forms.hotguidText),
  hotguidBytes: inSqlite("blob", forms.hotguidBytes),
  randflakeInt64: inSqlite("integer", forms.randflakeInt64),
  int64: inSqlite("integer", forms.int64),
}))();
