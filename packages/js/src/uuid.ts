/** The usual text of a UUID: 8-4-4-4-12 hexadecimal digits. */
import { invalidCharacter, invalidLength } from "./errors.js";

const LENGTH = 36;
const HYPHENS = [8, 13, 18, 23];

/** The text of 16 bytes, in lower case. */
export function formatUuid(bytes: readonly number[]): string {
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** The 16 bytes of a text in either case. */
export function parseUuid(text: string): number[] {
  if (text.length !== LENGTH) throw invalidLength(LENGTH, text.length);
  for (let k = 0; k < LENGTH; k++) {
    const fits = HYPHENS.includes(k) ? text[k] === "-" : /[0-9a-f]/i.test(text[k]!);
    if (!fits) throw invalidCharacter(k);
  }
  return text
    .replaceAll("-", "")
    .match(/../g)!
    .map((pair) => Number.parseInt(pair, 16));
}
