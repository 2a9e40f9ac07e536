import { flag } from "../checks.js";
import { wordsOf } from "../decode/words.js";
import { members } from "../members.js";

/** The zero ID, which the original writes as null. */
const ZERO = "2222222222222222";

/** How IDs and JSON values belong together. */
export interface JsonOptions {
  /** Whether the zero ID is `null`, a habit of the original; false by default. */
  nullIsZero?: boolean;
}

/**
 * The ID of a JSON value as `JSON.parse` gives it: its text.
 *
 * @throws {PolyflakeError} as `parse`; `invalid_type` for `null` unless it was asked for.
 */
export function fromJsonValue(value: string | null, options: JsonOptions = {}): string {
  if (value === null && nullIsZero(options)) return ZERO;
  wordsOf(value, "value");
  return value as string;
}

/**
 * An ID as a JSON value, for `JSON.stringify`: its text, or `null` for the zero ID where that was asked for.
 *
 * @throws {PolyflakeError} as `parse`.
 */
export function toJsonValue(id: string, options: JsonOptions = {}): string | null {
  wordsOf(id, "id");
  return id === ZERO && nullIsZero(options) ? null : id;
}

function nullIsZero(options: JsonOptions): boolean {
  return flag(members(options, "options", ["nullIsZero"]).nullIsZero, "nullIsZero");
}
