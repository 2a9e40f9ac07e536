import { checkBoolean } from "../checks.js";
import type { SnoId } from "../decode/sno.js";
import { parseWords } from "../decode/words.js";
import { members } from "../members.js";

/** The zero ID, which the original Go library writes as null. */
const ZERO_ID = "2222222222222222" as SnoId;

/** Options for converting between IDs and JSON values. */
export interface JsonOptions {
  /** Whether to map the zero ID to `null` and back, as the original Go library does. The default is false. */
  nullIsZero?: boolean;
}

/**
 * Returns the ID for a value from `JSON.parse`. The value is a string or, if the `nullIsZero` option is set, `null` for the
 * zero ID.
 *
 * @throws {PolyflakeError} the same errors as `parse`; `invalid_type` if the value is `null` and `nullIsZero` is not set.
 */
export function fromJsonValue(value: string | null, options: JsonOptions = {}): SnoId {
  if (value === null && nullIsZero(options)) return ZERO_ID;
  parseWords(value, "value");
  return value as SnoId;
}

/**
 * Returns an ID as a value for `JSON.stringify`. The value is a string or, if the `nullIsZero` option is set, `null` for the
 * zero ID.
 *
 * @throws {PolyflakeError} the same errors as `parse`.
 */
export function toJsonValue(id: string, options: JsonOptions = {}): SnoId | null {
  parseWords(id, "id");
  return id === ZERO_ID && nullIsZero(options) ? null : (id as SnoId);
}

function nullIsZero(options: JsonOptions): boolean {
  return checkBoolean(members(options, "options", ["nullIsZero"]).nullIsZero, "nullIsZero");
}
