import { checkSigned } from "../checks.js";
import * as hotguid from "../decode/hotguid.js";
import * as guids from "../decode/hotguid-bytes.js";
import * as randflake from "../decode/randflake.js";
import * as sno from "../decode/sno.js";
import { fromBytes, fromUuid } from "../decode/sno-bytes.js";
import { type Bytes, readBytes, readInteger, readText, writeBytes } from "./drivers.js";
import { type ColumnForm, createForm } from "./form.js";

export type { Bytes } from "./drivers.js";
export type { ColumnForm, Form } from "./form.js";

/** Stores a sno ID as a string of 16 characters, in a `varchar(16) COLLATE "C"`, an ASCII `CHAR(16)` or a `TEXT` column. */
export const snoText: ColumnForm<sno.SnoId, string, "text16"> = /* @__PURE__ */ createForm(
  "text16",
  (id) => (sno.parse(id), id),
  (value) => (sno.parse(readText(value)), value as sno.SnoId),
);

/** Stores a sno ID as its 10 bytes, in a `bytea`, `BINARY(10)` or `BLOB` column. */
export const snoBytes: ColumnForm<sno.SnoId, Bytes, "bytes10"> = /* @__PURE__ */ createForm(
  "bytes10",
  (id) => writeBytes(sno.toBytes(id)),
  (value) => fromBytes(readBytes(value)),
);

/** Stores a sno ID as a version 8 UUID, in a `uuid` column. */
export const snoUuid8: ColumnForm<sno.SnoId, string, "uuid"> = /* @__PURE__ */ createForm(
  "uuid",
  (id) => sno.toUuid8(id),
  (value) => sno.fromUuid8(readText(value)),
);

/** Stores a sno ID as a UUID in the compatible form, in a `uuid` column. */
export const snoUuid: ColumnForm<sno.SnoId, string, "uuid"> = /* @__PURE__ */ createForm(
  "uuid",
  (id) => sno.toUuid(id),
  (value) => fromUuid(readText(value)),
);

/** Stores a Hot Guid as a string, in a `uuid`, an ASCII `CHAR(36)` or a `TEXT` column. */
export const hotguidText: ColumnForm<hotguid.HotGuidId, string, "uuid"> = /* @__PURE__ */ createForm(
  "uuid",
  (id) => hotguid.parse(id),
  (value) => hotguid.parse(readText(value)),
);

/** Stores a Hot Guid as its 16 bytes in the order of the string form, in a `BINARY(16)` or `BLOB` column. */
export const hotguidBytes: ColumnForm<hotguid.HotGuidId, Bytes, "bytes16"> = /* @__PURE__ */ createForm(
  "bytes16",
  (id) => writeBytes(hotguid.toBytes(id)),
  (value) => guids.fromBytes(readBytes(value)),
);

/** Stores a Hot Guid as the GUID that SQL Server sorts by time, in a `uniqueidentifier` column. */
export const hotguidSql: ColumnForm<hotguid.HotGuidId, string, "uniqueidentifier"> = /* @__PURE__ */ createForm(
  "uniqueidentifier",
  (id) => guids.toSql(id),
  (value) => guids.fromSql(readText(value)),
);

/** Stores an encoded Randflake as a 64-bit integer, in a `BIGINT` column. */
export const randflakeInt64: ColumnForm<randflake.RandflakeText, bigint, "int64"> = /* @__PURE__ */ createForm(
  "int64",
  (id) => randflake.decodeText(id),
  (value) => randflake.encodeText(readInteger(value)),
);

/**
 * Stores a 64-bit integer, such as a Randflake or a layout's ID, in a `BIGINT` column. If the driver returns numbers,
 * configure it to return bigints or strings, because a number cannot represent every 64-bit integer exactly.
 */
export const int64: ColumnForm<bigint, bigint, "int64"> = /* @__PURE__ */ createForm(
  "int64",
  (id) => checkSigned(id, "id"),
  readInteger,
);
