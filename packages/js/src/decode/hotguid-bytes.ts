import { checkSixteenBytes } from "../checks.js";
import { parseUuidBytes, uuidText } from "./checks.js";
import type { HotGuidId } from "./hotguid.js";

/** The number of bytes in an ID. */
export const LENGTH = 16;

/** The byte order of .NET's `Guid.ToByteArray()`. The same table converts in both directions. */
const DOTNET_ORDER = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
/** The byte order of GUIDs that SQL Server sorts by time, and the table for the reverse conversion. */
const TO_SQL_ORDER = [15, 14, 13, 12, 11, 10, 9, 8, 6, 7, 0, 1, 2, 3, 4, 5];
const FROM_SQL_ORDER = [10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0];

/**
 * Returns the GUID to store in an SQL Server `uniqueidentifier` column, so that the column sorts by time.
 *
 * @throws {PolyflakeError} the same errors as `parse`.
 */
export function toSql(id: string): string {
  return uuidText(reorderBytes(parseUuidBytes(id, "id"), TO_SQL_ORDER));
}

/**
 * Returns the ID for a GUID from a `uniqueidentifier` column. This is the inverse of {@link toSql}.
 *
 * @throws {PolyflakeError} the same errors as `parse`.
 */
export function fromSql(guid: string): HotGuidId {
  return idOf(reorderBytes(parseUuidBytes(guid, "guid"), FROM_SQL_ORDER));
}

/**
 * Returns the ID that consists of the given 16 bytes, in the order of the string form. Any 16 bytes are a valid ID.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is a Uint8Array; `invalid_length` unless it has 16 bytes.
 */
export function fromBytes(id: Uint8Array): HotGuidId {
  return idOf(checkSixteenBytes(id));
}

/**
 * Returns the ID's 16 bytes in the order of .NET's `Guid.ToByteArray()`.
 *
 * @throws {PolyflakeError} the same errors as `parse`.
 */
export function toDotnetBytes(id: string): Uint8Array {
  return Uint8Array.from(reorderBytes(parseUuidBytes(id, "id"), DOTNET_ORDER));
}

/**
 * Returns the ID that consists of the given 16 bytes, in the order of .NET's `Guid.ToByteArray()`. This is the inverse of
 * {@link toDotnetBytes}.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is a Uint8Array; `invalid_length` unless it has 16 bytes.
 */
export function fromDotnetBytes(id: Uint8Array): HotGuidId {
  return idOf(reorderBytes(checkSixteenBytes(id), DOTNET_ORDER));
}

/** Returns the bytes at the given indexes, in the order of the indexes. */
function reorderBytes(bytes: readonly number[], places: readonly number[]): number[] {
  return places.map((place) => bytes[place]!);
}

/** Returns the ID that consists of the given 16 bytes, in the order of the string form. */
export function idOf(bytes: readonly number[]): HotGuidId {
  return uuidText(bytes) as HotGuidId;
}
