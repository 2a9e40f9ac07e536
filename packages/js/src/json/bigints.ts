/** Reads and writes JSON with 64-bit integers, which JavaScript numbers would round. */
import { checkBoolean } from "../checks.js";
import { invalidType } from "../errors.js";
import { members } from "../members.js";
import {
  checkInt64,
  isFraction,
  parseBigints,
  parseUnrounded,
  rejectRounded,
  roundedFractionError,
  sourceText,
} from "./integers.js";
import { checkLevels } from "./levels.js";

/** Options for {@link withBigints}. */
export interface BigintOptions {
  /**
   * Whether to write bigints as JSON numbers, if the engine has `JSON.rawJSON` (Node.js 22 or later, browsers since 2025). By
   * default, and in other engines, bigints are written as decimal strings, which every JSON parser preserves.
   */
  numbers?: boolean;
}

/** Functions that read and write JSON with 64-bit integers. */
export interface WithBigints {
  /**
   * A reviver for `JSON.parse` that converts integers in the same way as {@link WithBigints.parse}.
   *
   * @throws {PolyflakeError} the same errors as {@link WithBigints.parse}.
   */
  readonly reviver: (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown;
  /**
   * A replacer for `JSON.stringify` that converts bigints in the same way as {@link WithBigints.stringify}.
   *
   * @throws {PolyflakeError} the same errors as {@link WithBigints.stringify}.
   */
  readonly replacer: (this: unknown, key: string, value: unknown) => unknown;
  /**
   * Parses a JSON string. An integer or a decimal string in a named member becomes a bigint. The member can also be `null` or
   * an array of such values. Outside named members, an integer becomes a bigint only if a JavaScript number cannot represent
   * it.
   *
   * Integers above 2^53 can be read only in engines that pass the source text of a number to a reviver (Node.js 22 or later,
   * browsers since 2025). In these engines, an integer can also be distinguished from a fraction that `JSON.parse` has rounded
   * to an integer, such as 9007199254740991.4. In other engines, whole numbers above 2^53 are rejected, and such a fraction is
   * read as an integer. Decimal strings work in every engine.
   *
   * @throws {PolyflakeError} with the name of the member as `field`: `invalid_type` if a number was rounded, or if the value of
   * a named member is not an integer; `not_canonical` if a string in a named member is not a decimal integer; `out_of_range` if
   * an integer does not fit in 64 bits, signed or unsigned. Also `invalid_type` if more than 1,000 arrays and objects are
   * nested. Errors from `JSON.parse` propagate.
   */
  readonly parse: (json: string) => unknown;
  /**
   * Returns a value as a JSON string, in which bigints are decimal strings or, depending on the options, numbers.
   *
   * @throws {PolyflakeError} with the name of the member as `field`: `out_of_range` if a bigint does not fit in 64 bits, signed
   * or unsigned; `invalid_type` if a number in a named member may have been rounded, or if JSON cannot represent a value.
   * Errors from `JSON.stringify` propagate.
   */
  readonly stringify: (value: unknown, space?: string | number) => string;
}

/**
 * Returns functions that read and write JSON without rounding 64-bit integers. `names` lists the members that hold these
 * integers, at any depth.
 *
 * ```js
 * const json = withBigints(["id", "authorId"]);
 * json.parse('{"id": 4594531474933654033, "likes": 7}'); // { id: 4594531474933654033n, likes: 7 }
 * json.stringify({ id: 4594531474933654033n }); // '{"id":"4594531474933654033"}'
 * ```
 *
 * @param names The members whose integers always become bigints. In all other members, small integers such as 7 remain numbers.
 * @throws {PolyflakeError} `invalid_type` if an argument has the wrong type; `unknown_field` if an option does not exist.
 */
export function withBigints(names: readonly string[], options: BigintOptions = {}): WithBigints {
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string"))
    throw invalidType("array of strings", names, { field: "names" });
  const bigintNames = new Set<string>(names);
  const asNumbers = checkBoolean(members(options, "options", ["numbers"]).numbers, "numbers");
  const rawJson = asNumbers ? (JSON as { rawJSON?: (text: string) => unknown }).rawJSON : undefined;

  // The arrays in which a fraction was rounded to an integer. They are recorded, because the reviver visits an array's
  // items before it visits the member that contains the array.
  const withFractions = new WeakSet<object>();

  function reviver(this: unknown, key: string, value: unknown, context?: { readonly source?: string }): unknown {
    const source = sourceText(context);
    const whole = parseUnrounded(key, value, source);
    const fraction = isFraction(whole, source);
    if (fraction && Array.isArray(this)) withFractions.add(this);
    if (!bigintNames.has(key)) return whole;
    if (fraction) throw roundedFractionError(key);
    return parseBigints(key, whole, withFractions);
  }

  function replacer(this: unknown, key: string, given: unknown): unknown {
    // If the program has added a `toJSON` method to `BigInt.prototype`, `JSON.stringify` converts bigints to strings before
    // it calls the replacer.
    const own = rawJson && typeof given === "string" ? (this as Record<string, unknown> | undefined)?.[key] : given;
    const value = typeof own === "bigint" ? own : given;
    if (bigintNames.has(key)) rejectRounded(key, value);
    if (typeof value !== "bigint") return value;
    const text = String(checkInt64(key, value));
    return rawJson ? rawJson.call(JSON, text) : text;
  }

  return {
    reviver,
    replacer,
    parse: (json) => {
      checkLevels(json);
      return JSON.parse(json, reviver as never);
    },
    stringify: (value, space) => {
      const json: string | undefined = JSON.stringify(value, replacer, space);
      if (json === undefined) throw invalidType("JSON value", value);
      return json;
    },
  };
}
