/**
 * The usual text of a UUID: 8-4-4-4-12 hexadecimal digits.
 *
 * Without regular expressions: where the stack ends, V8 compiles none and ends the process instead of throwing.
 */
import { invalidCharacter, invalidLength } from "./errors.js";

/** The parameter that is one. */
const FIELD = "uuid";
const LENGTH = 36;
const HYPHENS = [8, 13, 18, 23];

/** The text of 16 bytes, in lower case. */
export function formatUuid(bytes: readonly number[]): string {
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** The 16 bytes of a text in either case. */
export function parseUuid(text: string): number[] {
  if (text.length !== LENGTH) throw invalidLength(LENGTH, text.length, { field: FIELD });
  const digits: number[] = [];
  for (let k = 0; k < LENGTH; k++) {
    if (!HYPHENS.includes(k)) digits.push(digit(text, k));
    else if (text[k] !== "-") throw invalidCharacter(text, k, { field: FIELD });
  }
  return Array.from({ length: 16 }, (_, k) => (digits[2 * k]! << 4) | digits[2 * k + 1]!);
}

function digit(text: string, position: number): number {
  const value = "0123456789abcdefABCDEF".indexOf(text.charAt(position));
  if (value < 0) throw invalidCharacter(text, position, { field: FIELD });
  return value < 16 ? value : value - 6;
}
