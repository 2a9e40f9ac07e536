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
  if (typeof value !== "string" || value.length !== LENGTH) return false;
  for (let k = 0; k < LENGTH; k++) if (digit(value, k) < 0) return false;
  return true;
}

/**
 * The metabyte of a text, 0..255, without parsing the rest of it: only the length and the two characters that hold it are
 * checked.
 *
 * @throws {PolyflakeError} `invalid_type`, `invalid_length` or `invalid_character` with the position.
 */
export function metabyte(text: string): number {
  if (typeof text !== "string") throw invalidType("string", text, { field: "text" });
  if (text.length !== LENGTH) throw invalidLength(LENGTH, text.length, { field: "text" });
  return (checkedDigit(text, 8) << 3) | (checkedDigit(text, 9) >> 2);
}

function checkedDigit(text: string, position: number): number {
  const value = digit(text, position);
  if (value < 0) throw invalidCharacter(text, position, { field: "text" });
  return value;
}

/** The value of a character: 2..9 are 0..7, a..x are 8..31, all else is -1. */
function digit(text: string, position: number): number {
  const code = text.charCodeAt(position);
  if (code >= 50 && code <= 57) return code - 50;
  return code >= 97 && code <= 120 ? code - 89 : -1;
}
