/** The part of a public ID that follows the type and `_`. It consists of lower-case characters from Crockford's alphabet. */

/** The number of characters that follow the type and `_` in a public ID. */
export const TAIL_LENGTH = 15;

/** A regular expression that matches one character of the part that follows the type and `_` in a public ID. */
export const TAIL_CHARACTER = "[0-9a-hjkmnp-tv-z]";

/** A table that contains, for each character code, 1 if the character is in the alphabet, and 0 otherwise. */
const TAIL_CODES = /* @__PURE__ */ (() => {
  const codes = new Uint8Array(128);
  for (const character of "0123456789abcdefghjkmnpqrstvwxyz") codes[character.charCodeAt(0)] = 1;
  return codes;
})();

/** Returns whether a character code belongs to the alphabet of public IDs. */
export const isTailCode = (code: number): boolean => TAIL_CODES[code] === 1;

/**
 * Writes the 15 characters of `text` that begin at the index `from` to the start of `bytes`. Returns false if any of these
 * characters is not in the alphabet.
 */
export function putTail(text: string, from: number, bytes: Uint8Array): boolean {
  let all = 1;
  for (let k = 0; k < TAIL_LENGTH; k++) {
    const code = text.charCodeAt(from + k);
    bytes[k] = code;
    all &= TAIL_CODES[code]!;
  }
  return all === 1;
}

/**
 * Returns the character that the user probably meant: the lower-case form of a capital letter, or the valid character that
 * looks similar to the invalid one.
 */
export function intendedCharacter(character: string): string | undefined {
  if (character > "z") return undefined;
  const lower = character.toLowerCase();
  if (lower === "o") return "0";
  if (lower === "i" || lower === "l") return "1";
  return isTailCode(lower.charCodeAt(0)) ? lower : undefined;
}
