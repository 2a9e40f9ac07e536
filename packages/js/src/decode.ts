/**
 * What a reviver needs, without wasm: whether a value is a sno text, and what it is of.
 *
 * ```js
 * import { isValid, metabyte } from "polyflake/decode";
 *
 * JSON.parse('{"id": "a7rdmuv326nct5if"}', function (key, value) {
 *   return key === "id" && isValid(value) ? { type: metabyte(value), id: value } : value;
 * });
 * ```
 *
 * @module
 */
import { invalidCharacter, invalidLength, invalidType } from "./errors.js";

export { type ErrorCode, PolyflakeError } from "./errors.js";

/** Characters of a text. */
const LENGTH = 16;

/** Whether a value is the text of an ID: 16 characters of `[2-9a-x]`. */
export function isValid(value: unknown): value is string {
  return typeof value === "string" && /^[2-9a-x]{16}$/.test(value);
}

/**
 * The metabyte of a text, 0..255, without parsing the rest of it: only the length and the two characters that hold it are
 * checked.
 *
 * @throws {PolyflakeError} `invalid_type`, `invalid_length` or `invalid_character` with the position.
 */
export function metabyte(text: string): number {
  if (typeof text !== "string") throw invalidType("string", text);
  if (text.length !== LENGTH) throw invalidLength(LENGTH, text.length);
  return (digit(text, 8) << 3) | (digit(text, 9) >> 2);
}

/** The value of a character: 2..9 are 0..7, a..x are 8..31. */
function digit(text: string, position: number): number {
  const code = text.charCodeAt(position);
  if (code >= 50 && code <= 57) return code - 50;
  if (code >= 97 && code <= 120) return code - 89;
  throw invalidCharacter(position);
}
