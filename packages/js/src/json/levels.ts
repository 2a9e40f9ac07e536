/** Limits how deeply arrays and objects are nested, so that no JSON from outside the program overflows the stack. */
import { PolyflakeError } from "../errors.js";

/** The maximum nesting depth of arrays and objects. */
export const MAX_LEVELS = 1000;

/**
 * Throws if more than {@link MAX_LEVELS} arrays and objects are nested in a JSON string. `JSON.parse` itself overflows the
 * stack with a reviver, because it visits nested values recursively.
 */
export function checkLevels(json: unknown): void {
  if (typeof json !== "string" || json.length <= MAX_LEVELS) return;
  for (let at = 0, levels = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') at = endOfString(json, at);
    else if (character === "]" || character === "}") levels--;
    else if ((character === "[" || character === "{") && ++levels > MAX_LEVELS)
      throw new PolyflakeError(
        "invalid_type",
        `expected at most ${MAX_LEVELS} levels of arrays and objects, found more`,
      );
  }
}

/** Returns the position of the quotation mark that ends a string, or the length of the JSON if the string does not end. */
function endOfString(json: string, start: number): number {
  for (let at = start; ; ) {
    at = json.indexOf('"', at + 1);
    if (at < 0) return json.length;
    let before = at;
    while (json[before - 1] === "\\") before--;
    if ((at - before) % 2 === 0) return at;
  }
}
