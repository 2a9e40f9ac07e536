/**
 * Handles 64-bit integers in the values that `JSON.parse` and `JSON.stringify` pass to callbacks. Rounding is always an error.
 */
import { isObject } from "../checks.js";
import { invalidType, outOfRange, PolyflakeError } from "../errors.js";
import { parseDecimal } from "../show.js";

/** Returns the source text of a number, which newer engines pass to a reviver, or undefined in older engines. */
export function sourceText(context: { readonly source?: unknown } | undefined): string | undefined {
  const source = isObject(context) ? context.source : undefined;
  return typeof source === "string" ? source : undefined;
}

/** Returns whether a value is an integer outside the safe range, so that it may have been rounded. */
function isRounded(value: unknown): value is number {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/**
 * Returns the value or, if it was rounded, the exact integer from its source text. A number written with a decimal point or an
 * exponent is returned unchanged.
 */
export function parseUnrounded(field: string, value: unknown, source: string | undefined): unknown {
  if (!isRounded(value)) return value;
  if (source !== undefined) return parseInt64(field, source) ?? value;
  const message = `expected an integer of at most 2^53 or a decimal text for \`${field}\`, found a rounded number`;
  throw new PolyflakeError("invalid_type", message, { field });
}

/** Returns whether a number is an integer only because `JSON.parse` rounded a fraction in the source text. */
export function isFraction(value: unknown, source: string | undefined): boolean {
  return Number.isSafeInteger(value) && source !== undefined && source !== String(value) && !isWhole(source);
}

/** Returns whether the source text of a number represents an integer, such as 7, 7.0 or 0.7e1. */
function isWhole(source: string): boolean {
  const [mantissa = "", exponent = "0"] = (source[0] === "-" ? source.slice(1) : source).toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = whole + fraction;
  let last = digits.length;
  while (digits[last - 1] === "0") last--;
  return last === 0 || last <= whole.length + Number(exponent);
}

/** Creates the error for a named member whose value is a fraction, or an array that contains a fraction. */
export function roundedFractionError(field: string): PolyflakeError {
  const message = `expected an integer or a decimal text for \`${field}\`, found a fraction, rounded to an integer`;
  return new PolyflakeError("invalid_type", message, { field });
}

/**
 * Returns the value of a named member, with all integers converted to bigints. Throws if the value is, or contains, an array in
 * `withFractions`.
 */
export function parseBigints(field: string, value: unknown, withFractions: WeakSet<object>): unknown {
  if (value === null || typeof value === "bigint") return value;
  if (Array.isArray(value)) {
    if (withFractions.has(value)) throw roundedFractionError(field);
    return value.map((item) => parseBigints(field, item, withFractions));
  }
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  if (typeof value !== "string") throw invalidType("integer or decimal text", value, { field });
  const integer = parseInt64(field, value);
  if (integer !== undefined) return integer;
  throw new PolyflakeError("not_canonical", `expected a decimal text for \`${field}\`, found another`, { field });
}

/** The length of the longest decimal 64-bit integer, including the sign. */
const MAX_DIGITS = 20;

/** Returns the 64-bit integer in a canonical decimal string, or undefined for any other string. */
function parseInt64(field: string, text: string): bigint | undefined {
  if (text.length <= MAX_DIGITS) {
    const value = parseDecimal(text);
    return value === undefined ? undefined : checkInt64(field, value);
  }
  for (let at = text[0] === "-" ? 1 : 0; at < text.length; at++)
    if (!"0123456789".includes(text[at]!)) return undefined;
  throw int64RangeError(field, `one of ${text.length} characters`);
}

/** Checks that an integer fits in 64 bits, signed or unsigned, and returns it. */
export function checkInt64(field: string, value: bigint): bigint {
  if (BigInt.asIntN(64, value) === value || BigInt.asUintN(64, value) === value) return value;
  throw int64RangeError(field, BigInt.asIntN(256, value) === value ? value : "one of more than 256 bits");
}

function int64RangeError(field: string, found: unknown): PolyflakeError {
  return outOfRange(-(1n << 63n), (1n << 64n) - 1n, found, field);
}

/** Rejects a number that may have been rounded, including a number in an array. */
export function rejectRounded(field: string, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) rejectRounded(field, item);
  if (!isRounded(value)) return;
  const message = `expected a bigint for \`${field}\`, found a number that may have been rounded`;
  throw new PolyflakeError("invalid_type", message, { field });
}
