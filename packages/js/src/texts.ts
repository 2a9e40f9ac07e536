/** Checks many strings that are read at once, and finds the first invalid one. */
import { checkAtMost } from "./checks.js";
import { invalidType, PolyflakeError } from "./errors.js";
import { MAX_COUNT } from "./machine.js";

/**
 * A copy of the caller's strings, so that the caller can no longer change them. A value that is not a string is detected
 * only when it is read.
 */
export interface Texts {
  readonly count: number;
  /**
   * Returns the concatenated strings from the index `from` up to, but not including, `to`, or undefined if any of them has the
   * wrong length.
   */
  readonly joined: (from: number, to: number) => string | undefined;
  readonly at: (index: number) => string;
}

/**
 * Returns the elements as strings. Each string must have between `least` and `most` characters, which `joined` checks.
 */
export function checkTexts(all: readonly unknown[], least: number, most: number): Texts {
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
 * Returns the strings from an array, or splits one concatenated string into strings of `width` characters.
 *
 * @throws {PolyflakeError} the same errors as {@link elements}; `invalid_length` if characters are left over.
 */
export function readTexts(texts: unknown, width: number): Texts {
  if (typeof texts !== "string") return checkTexts(elements(texts), width, width);
  if (texts.length % width !== 0) {
    throw new PolyflakeError("invalid_length", `expected a multiple of ${width} characters, found ${texts.length}`, {
      field: "ids",
    });
  }
  const joined = (from: number, to: number) => texts.slice(from * width, to * width);
  return {
    count: checkAtMost(texts.length / width, "ids", MAX_COUNT),
    joined,
    at: (index) => joined(index, index + 1),
  };
}

/**
 * Returns the elements of an array of IDs. Each element is read once. Errors from getters propagate.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is an array; `out_of_range` for more than 16,777,216 IDs.
 */
export function elements(ids: unknown, field = "ids"): readonly unknown[] {
  if (!Array.isArray(ids)) throw invalidType(`array of ${field === "ids" ? "IDs" : "UUIDs"}`, ids, { field });
  const all = new Array<unknown>(checkAtMost(ids.length, field, MAX_COUNT));
  for (let k = 0; k < all.length; k++) all[k] = ids[k];
  return all;
}

/**
 * Throws the error for the first string that `read` rejects.
 *
 * @throws {PolyflakeError} the error for that string, with its index as `item`.
 */
export function throwFirstError({ at }: Texts, from: number, to: number, read: (text: string) => unknown): never {
  for (let item = from; item < to; item++) {
    readItem(at(item), item, (text: unknown) => {
      if (typeof text !== "string") throw invalidType("string", text, { field: "ids" });
      read(text);
    });
  }
  throw new Error("expected a bad text");
}

/**
 * Calls `read` for one element of a list and returns the result.
 *
 * @throws {PolyflakeError} the error that `read` throws, with the element's index as `item`.
 */
export function readItem<T>(id: unknown, item: number, read: (id: unknown) => T): T {
  try {
    return read(id);
  } catch (error) {
    if (!(error instanceof PolyflakeError)) throw error;
    const { code, message, position } = error;
    throw new PolyflakeError(code, `item ${item}: ${message}`, {
      ...(position === undefined ? {} : { position }),
      ...(code === "invalid_type" ? { field: "ids" } : {}),
      item,
    });
  }
}
