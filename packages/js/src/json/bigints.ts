/** Reads and writes JSON in which integers of 64 bits stay whole: JavaScript's numbers round them. */
import { flag } from "../checks.js";
import { invalidType } from "../errors.js";
import { members } from "../members.js";
import { bigintsOf, isFraction, refuseRounded, roundedFraction, sourceOf, unrounded, within64 } from "./integers.js";

/** Options for JSON with bigints. */
export interface BigintOptions {
  /**
   * `true` to write bigints as numbers, where the engine has `JSON.rawJSON`: Node from 22 on, browsers since 2025. Elsewhere, and
   * by default, they are decimal texts, which any reader of JSON keeps whole.
   */
  numbers?: boolean;
}

/** Reads and writes JSON with integers of 64 bits. */
export interface WithBigints {
  /**
   * Reviver for `JSON.parse`, which does the work of {@link WithBigints.parse}.
   *
   * @throws {PolyflakeError} as {@link WithBigints.parse}.
   */
  readonly reviver: (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown;
  /**
   * Replacer for `JSON.stringify`, which does the work of {@link WithBigints.stringify}.
   *
   * @throws {PolyflakeError} as {@link WithBigints.stringify}.
   */
  readonly replacer: (this: unknown, key: string, value: unknown) => unknown;
  /**
   * The value of a JSON text. A named member is a bigint, read from an integer or a decimal text, or `null`, or a list of those. Any
   * other integer that a number cannot hold is a bigint, too.
   *
   * Only engines that show a reviver the source of a number (Node from 22 on, browsers since 2025) read integers past 2^53, and
   * tell an integer from a fraction that `JSON.parse` has rounded to one, as 9007199254740991.4. Elsewhere whole numbers past 2^53
   * are refused, and such a fraction is read as the integer. Decimal texts are read everywhere.
   *
   * @throws {PolyflakeError} with the member as `field`: `invalid_type` for a rounded number, and for a value of a named member
   * that is no integer; `not_canonical` for a text there that is not decimal; `out_of_range` past 64 bits, signed or unsigned. Errors
   * of `JSON.parse` pass through.
   */
  readonly parse: (json: string) => unknown;
  /**
   * The JSON text of a value, in which bigints are decimal texts, or numbers if the options say so.
   *
   * @throws {PolyflakeError} with the member as `field`: `out_of_range` for a bigint past 64 bits, signed or unsigned;
   * `invalid_type` for a number in a named member that may have been rounded, and for a value that JSON lacks. Errors of
   * `JSON.stringify` pass through.
   */
  readonly stringify: (value: unknown, space?: string | number) => string;
}

/**
 * Reads and writes JSON in which integers of 64 bits stay whole, in the members with these names at any depth.
 *
 * ```js
 * const json = withBigints(["id", "authorId"]);
 * json.parse('{"id": 4594531474933654033, "likes": 7}'); // { id: 4594531474933654033n, likes: 7 }
 * json.stringify({ id: 4594531474933654033n }); // '{"id":"4594531474933654033"}'
 * ```
 *
 * @param names Members that are bigints at any size: without a name, 7 is a number.
 * @throws {PolyflakeError} `invalid_type`, `unknown_field`.
 */
export function withBigints(names: readonly string[], options: BigintOptions = {}): WithBigints {
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string"))
    throw invalidType("array of strings", names, { field: "names" });
  const named = new Set<string>(names);
  const asNumbers = flag(members(options, "options", ["numbers"]).numbers, "numbers");
  const raw = asNumbers ? (JSON as { rawJSON?: (text: string) => unknown }).rawJSON : undefined;

  // A list is read before the member that it is of.
  const withFractions = new WeakSet<object>();

  function reviver(this: unknown, key: string, value: unknown, context?: { readonly source?: string }): unknown {
    const source = sourceOf(context);
    const whole = unrounded(key, value, source);
    const fraction = isFraction(whole, source);
    if (fraction && Array.isArray(this)) withFractions.add(this);
    if (!named.has(key)) return whole;
    if (fraction) throw roundedFraction(key);
    return bigintsOf(key, whole, withFractions);
  }

  function replacer(this: unknown, key: string, given: unknown): unknown {
    // A `toJSON` that programs add to all bigints has made texts of them.
    const own = raw && typeof given === "string" ? (this as Record<string, unknown> | undefined)?.[key] : given;
    const value = typeof own === "bigint" ? own : given;
    if (named.has(key)) refuseRounded(key, value);
    if (typeof value !== "bigint") return value;
    const text = String(within64(key, value));
    return raw ? raw.call(JSON, text) : text;
  }

  return {
    reviver,
    replacer,
    parse: (json) => JSON.parse(json, reviver as never),
    stringify: (value, space) => {
      const json: string | undefined = JSON.stringify(value, replacer, space);
      if (json === undefined) throw invalidType("JSON value", value);
      return json;
    },
  };
}
