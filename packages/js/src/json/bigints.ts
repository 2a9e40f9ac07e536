/** Reads and writes JSON with 64-bit integers, which JavaScript's numbers would round. */
import { flag } from "../checks.js";
import { invalidType } from "../errors.js";
import { members } from "../members.js";
import { bigintsOf, isFraction, refuseRounded, roundedFraction, sourceOf, unrounded, within64 } from "./integers.js";

/** Options of {@link withBigints}. */
export interface BigintOptions {
  /**
   * `true` to write bigints as JSON numbers, if the engine has `JSON.rawJSON`: Node from version 22 on, browsers since 2025. In
   * other engines, and by default, bigints are written as decimal strings, which every JSON reader preserves.
   */
  numbers?: boolean;
}

/** Reads and writes JSON with 64-bit integers. */
export interface WithBigints {
  /**
   * A reviver for `JSON.parse` that converts integers like {@link WithBigints.parse}.
   *
   * @throws {PolyflakeError} the errors of {@link WithBigints.parse}.
   */
  readonly reviver: (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown;
  /**
   * A replacer for `JSON.stringify` that converts bigints like {@link WithBigints.stringify}.
   *
   * @throws {PolyflakeError} the errors of {@link WithBigints.stringify}.
   */
  readonly replacer: (this: unknown, key: string, value: unknown) => unknown;
  /**
   * Parses a JSON string. A named member becomes a bigint, which is read from an integer or a decimal string; it can also be
   * `null`, or a list of such values. Any other integer becomes a bigint only if a number cannot hold it.
   *
   * Only engines that pass the source of a number to a reviver (Node from version 22 on, browsers since 2025) read integers above
   * 2^53. They also distinguish an integer from a fraction that `JSON.parse` has rounded to one, such as 9007199254740991.4. Other
   * engines reject whole numbers above 2^53, and read such a fraction as the integer. Decimal strings are read by every engine.
   *
   * @throws {PolyflakeError} with the member as `field`: `invalid_type` for a rounded number, and for a value of a named member
   * that is not an integer; `not_canonical` for a string in a named member that is not a decimal; `out_of_range` above 64 bits,
   * signed or unsigned. Errors of `JSON.parse` propagate.
   */
  readonly parse: (json: string) => unknown;
  /**
   * Returns the JSON string of a value, in which bigints are decimal strings, or numbers if the options say so.
   *
   * @throws {PolyflakeError} with the member as `field`: `out_of_range` for a bigint above 64 bits, signed or unsigned;
   * `invalid_type` for a number in a named member that may have been rounded, and for a value that JSON does not support. Errors of
   * `JSON.stringify` propagate.
   */
  readonly stringify: (value: unknown, space?: string | number) => string;
}

/**
 * Returns functions that read and write JSON without rounding 64-bit integers, in the members with these names at any depth.
 *
 * ```js
 * const json = withBigints(["id", "authorId"]);
 * json.parse('{"id": 4594531474933654033, "likes": 7}'); // { id: 4594531474933654033n, likes: 7 }
 * json.stringify({ id: 4594531474933654033n }); // '{"id":"4594531474933654033"}'
 * ```
 *
 * @param names The members that are bigints regardless of their size. In any other member, 7 is a number.
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
