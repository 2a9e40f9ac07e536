/** Many texts that are read at once: the border, and the first bad one of them. */
import { within } from "./checks.js";
import { invalidType, PolyflakeError } from "./errors.js";
import { MOST } from "./machine.js";

/** Texts that nobody changes any more; what is no text is found when it is read. */
export interface Texts {
  readonly count: number;
  /** Some of them side by side; undefined if one of them has a length that none may have. */
  readonly joined: (from: number, to: number) => string | undefined;
  readonly at: (index: number) => string;
}

/**
 * The elements of an array, each read once; what their getters throw goes through.
 *
 * @throws {PolyflakeError} `invalid_type`; `out_of_range` for more than one call may read.
 */
export function listed(texts: unknown, least: number, most: number): Texts {
  const all = elements(texts, "texts");
  return {
    count: all.length,
    joined: (from, to) => {
      let joined = "";
      for (let k = from; k < to; k++) {
        const text = all[k];
        if (typeof text !== "string" || text.length < least || text.length > most) return undefined;
        joined += text;
      }
      return joined;
    },
    at: (index) => all[index] as string,
  };
}

/**
 * The texts that lie side by side in one, so many characters each; or the elements of an array.
 *
 * @throws {PolyflakeError} as {@link listed}; `invalid_length` where characters are left over.
 */
export function listedOrJoined(texts: unknown, width: number): Texts {
  if (typeof texts !== "string") return listed(texts, width, width);
  if (texts.length % width !== 0) {
    throw new PolyflakeError("invalid_length", `expected a multiple of ${width} characters, found ${texts.length}`, { field: "texts" });
  }
  const joined = (from: number, to: number) => texts.slice(from * width, to * width);
  return { count: within(texts.length / width, "texts", MOST), joined, at: (index) => joined(index, index + 1) };
}

/** The elements of an array of texts, each read once; at most as many as one call may read. */
export function elements(texts: unknown, field: string): readonly unknown[] {
  if (!Array.isArray(texts)) throw invalidType("array of strings", texts, { field });
  const all = new Array<unknown>(within(texts.length, field, MOST));
  for (let k = 0; k < all.length; k++) all[k] = texts[k];
  return all;
}

/**
 * Refuses the first text of some that `read` refuses.
 *
 * @throws {PolyflakeError} what it is refused with, and its `item`.
 */
export function refuseOne({ at }: Texts, from: number, to: number, read: (text: string) => unknown): never {
  for (let item = from; item < to; item++) {
    try {
      read(at(item));
    } catch (error) {
      if (!(error instanceof PolyflakeError)) throw error;
      const { code, message, position } = error;
      throw new PolyflakeError(code, `item ${item}: ${message}`, { ...(position === undefined ? {} : { position }), item });
    }
  }
  throw new Error("expected a bad text");
}
