/** Represents a sno ID as four 20-bit words. Each word corresponds to four characters of the encoded ID. */
import { checkTextLength, digit, firstInvalidCharacterError, type ValueAt } from "./checks.js";
import type { SnoId } from "./sno.js";

/** The number of bytes in an ID. */
export const LENGTH = 10;
/** The number of characters in an encoded ID. */
export const TEXT_LENGTH = 16;

/**
 * The four 20-bit words of an ID:
 *
 * ```text
 * 39 timestamp | 1 tick-tock || 8 metabyte, 12 partition | 4 partition, 16 sequence
 * ```
 */
export type Words = [time: number, timeLow: number, metabyteAndPartition: number, partitionAndSequence: number];

type SixWords = [number, number, number, number, number, number];
/**
 * The bytes of an ID or a UUID. The type guarantees that the first 12 bytes exist, because the code reads these bytes
 * individually.
 */
export type Bytes = [...SixWords, ...SixWords, ...number[]];

/** Returns the value of a character in the alphabet `2`..`9`, `a`..`x`. */
export const valueAt: ValueAt = (text, position) => digit(text.charCodeAt(position), 2, 32);

/** Returns the words of a 16-character encoded ID, or undefined for any other string. */
export function tryParseWords(text: string): Words | undefined {
  const words: Words = [parseWord(text, 0), parseWord(text, 4), parseWord(text, 8), parseWord(text, 12)];
  return (words[0] | words[1] | words[2] | words[3]) < 0 ? undefined : words;
}

/** Returns the words of an encoded ID. `field` is the name of the parameter. */
export function parseWords(text: unknown, field: string): Words {
  const found = checkTextLength(text, field, TEXT_LENGTH);
  const words = tryParseWords(found);
  if (words) return words;
  throw firstInvalidCharacterError(found, field, valueAt);
}

function parseWord(text: string, at: number): number {
  return (
    (valueAt(text, at) << 15) | (valueAt(text, at + 1) << 10) | (valueAt(text, at + 2) << 5) | valueAt(text, at + 3)
  );
}

/** Converts an ID's 10 bytes to words. */
export function bytesToWords(bytes: Iterable<number>): Words {
  const [a, b, c, d, e, f, g, h, i, j] = bytes as Bytes;
  return [
    (a << 12) | (b << 4) | (c >> 4),
    ((c & 15) << 16) | (d << 8) | e,
    (f << 12) | (g << 4) | (h >> 4),
    ((h & 15) << 16) | (i << 8) | j,
  ];
}

/** Returns the encoded ID that consists of the given words. */
export function wordsToText<M extends number>(words: Words): SnoId<M> {
  let text = "";
  for (const word of words)
    text += String.fromCharCode(
      characterCode(word >> 15),
      characterCode(word >> 10),
      characterCode(word >> 5),
      characterCode(word),
    );
  return text as SnoId<M>;
}

/** Returns the code of the character that represents the low 5 bits of `bits`. */
function characterCode(bits: number): number {
  const value = bits & 31;
  return value < 8 ? value + 50 : value + 89;
}
