/** Reads and writes JSON in which integers of 64 bits stay whole: JavaScript's numbers round them. */
import { flag, isObject } from "./checks.js";
import { invalidType, outOfRange, PolyflakeError } from "./errors.js";
import { members } from "./members.js";
import { decimalOf } from "./show.js";

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
  readonly reviver: (key: string, value: unknown, context?: { readonly source?: string }) => unknown;
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
   * Only engines that show a reviver the source of a number (Node from 22 on, browsers since 2025) read integers past 2^53;
   * elsewhere whole numbers past it are refused, since `JSON.parse` has rounded them. Decimal texts are read everywhere.
   *
   * @throws {PolyflakeError} with the member as `field`: `invalid_type` for a rounded integer, and for a value of a named member
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
 * @param names Members that are bigints whatever their size: without a name, 7 is a number.
 * @throws {PolyflakeError} `invalid_type`, `unknown_field`.
 */
export function withBigints(names: readonly string[], options: BigintOptions = {}): WithBigints {
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string"))
    throw invalidType("array of strings", names, { field: "names" });
  const named = new Set<string>(names);
  const asNumbers = flag(members(options, "options", ["numbers"]).numbers, "numbers");
  const raw = asNumbers ? (JSON as { rawJSON?: (text: string) => unknown }).rawJSON : undefined;

  const reviver: WithBigints["reviver"] = (key, value, context) => {
    const whole = isRounded(value) ? sourceOf(key, value, context) : value;
    return named.has(key) ? bigintOf(key, whole) : whole;
  };

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

/** Returns whether a value is an integer that may stand for several. */
function isRounded(value: unknown): value is number {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** The integer in the source of a number; a number that is written as a fraction or with an exponent stays. */
function sourceOf(field: string, value: number, context: { readonly source?: string } | undefined): number | bigint {
  const source: unknown = isObject(context) ? context.source : undefined;
  if (typeof source === "string") return integerIn(field, source) ?? value;
  const message = `expected an integer of at most 2^53 or a decimal text for \`${field}\`, found a rounded number`;
  throw new PolyflakeError("invalid_type", message, { field });
}

/** The value of a named member. */
function bigintOf(field: string, value: unknown): unknown {
  if (value === null) return value;
  if (Array.isArray(value)) return value.map((item) => bigintOf(field, item));
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  if (typeof value === "bigint") return value;
  if (typeof value !== "string") throw invalidType("integer or decimal text", value, { field });
  const integer = integerIn(field, value);
  if (integer !== undefined) return integer;
  throw new PolyflakeError("not_canonical", `expected a decimal text for \`${field}\`, found another`, { field });
}

/** Characters of the longest integer of 64 bits. */
const LONGEST = 20;

/** The integer of 64 bits in plain digits; undefined for another text. */
function integerIn(field: string, text: string): bigint | undefined {
  if (text.length <= LONGEST) {
    const value = decimalOf(text);
    return value === undefined ? undefined : within64(field, value);
  }
  for (let at = text[0] === "-" ? 1 : 0; at < text.length; at++)
    if (!"0123456789".includes(text[at]!)) return undefined;
  throw pastRange(field, `one of ${text.length} characters`);
}

function within64(field: string, value: bigint): bigint {
  if (BigInt.asIntN(64, value) === value || BigInt.asUintN(64, value) === value) return value;
  throw pastRange(field, BigInt.asIntN(256, value) === value ? value : "one of more than 256 bits");
}

function pastRange(field: string, found: unknown): PolyflakeError {
  return outOfRange(-(1n << 63n), (1n << 64n) - 1n, found, field);
}

/** Refuses a number that may have been rounded, also in a list. */
function refuseRounded(field: string, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) refuseRounded(field, item);
  if (!isRounded(value)) return;
  const message = `expected a bigint for \`${field}\`, found a number that may have been rounded`;
  throw new PolyflakeError("invalid_type", message, { field });
}
