/** Checks values from the caller. Values are never converted. */
import { checkInteger, toDisplayValue } from "./decode/checks.js";
import { invalidLength, invalidType, outOfRange, PolyflakeError } from "./errors.js";

export { checkAtMost, checkInteger, checkSigned } from "./decode/checks.js";

/**
 * The number that represents a missing value in a register of the scratch area, through which arguments are passed to the
 * backend.
 */
export const ABSENT = NaN;

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Throws if a method was called on an object of the wrong class, for example because the method was detached from its
 * object. `is` states whether the object has the right class.
 */
export function attached(is: boolean): void {
  if (is) return;
  throw new PolyflakeError("invalid_type", "expected a method that is called on its object, found a detached one", {
    field: "this",
  });
}

/**
 * Checks that a value is one of `generators`, and returns it.
 *
 * @throws {PolyflakeError} `invalid_type` if the value is not in `generators`.
 */
export function checkGenerator<G extends object>(generators: WeakSet<G>, value: unknown): G {
  if (generators.has(value as G)) return value as G;
  throw invalidType("Generator of this copy of the package", value, { field: "generator" });
}

/** Checks that a value is an integer and returns it, or returns {@link ABSENT} if the value is missing. */
export function checkOptionalInteger(value: unknown, field: string): number {
  return value === undefined ? ABSENT : checkInteger(value, field);
}

/** Checks that a value is an unsigned 64-bit integer, passed as a bigint, and returns it. */
export function checkUnsigned(value: unknown, field: string): bigint {
  if (typeof value !== "bigint") throw invalidType("bigint", value, { field });
  if (BigInt.asUintN(64, value) === value) return value;
  throw outOfRange(0n, (1n << 64n) - 1n, toDisplayValue(value), field);
}

/** Checks that a value is a boolean and returns it, or returns false if the value is missing. */
export function checkBoolean(value: unknown, field: string): boolean {
  if (value === undefined || typeof value === "boolean") return value === true;
  throw invalidType("boolean", value, { field });
}

/** Returns the value if it is a string, and throws otherwise. */
export function checkString(value: unknown, field: string): string {
  if (typeof value === "string") return value;
  throw invalidType("string", value, { field });
}

/** Checks that a value is a valid Date or an integer in Unix milliseconds, and returns the milliseconds. */
export function checkTime(value: unknown, field: string): number {
  if (typeof value === "number") return checkInteger(value, field);
  const ms = millisecondsOf(value);
  if (ms === undefined) throw invalidType("valid Date or integer milliseconds", value, { field });
  if (!Number.isNaN(ms)) return ms;
  const message = `expected valid Date or integer milliseconds for \`${field}\`, found an invalid Date`;
  throw new PolyflakeError("invalid_type", message, { field });
}

/**
 * Returns the time of a Date, in Unix milliseconds, or undefined if the value is not a Date. The Date may be from any
 * realm.
 */
export function millisecondsOf(value: unknown): number | undefined {
  try {
    return Date.prototype.getTime.call(value);
  } catch {
    return undefined;
  }
}

/**
 * Calls a function that accepts times. If the caller passed a Date, error messages show times in ISO 8601 format instead of
 * milliseconds.
 *
 * @throws {PolyflakeError} any error that `call` throws.
 */
export function runWithDates<T>(times: readonly unknown[], call: () => T): T {
  try {
    return call();
  } catch (error) {
    const given = times.map((time) => (typeof time === "number" ? undefined : millisecondsOf(time)));
    const found =
      error instanceof PolyflakeError &&
      /^(expected .* from )(-?\d+)( to )(-?\d+) ms(, found )(-?\d+)$/.exec(error.message);
    if (found && given.includes(Number(found[6])))
      error.message = found
        .slice(1)
        .map((part, k) => (k % 2 === 1 ? toIsoString(part) : part))
        .join("");
    throw error;
  }
}

/** Returns a time in milliseconds as an ISO 8601 string, or with its unit if a Date cannot represent it. */
function toIsoString(ms: string): string {
  const date = new Date(Number(ms));
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}

/** The prototype of all typed arrays. Subclasses cannot override its getters. */
const typedArrayPrototype = /* @__PURE__ */ (() => Object.getPrototypeOf(Uint8Array.prototype) as object)();
const getter = (name: PropertyKey): ((this: unknown) => unknown) =>
  Object.getOwnPropertyDescriptor(typedArrayPrototype, name)!.get!;
const getBuffer = /* @__PURE__ */ getter("buffer");
const getByteOffset = /* @__PURE__ */ getter("byteOffset");
const getTypeTag = /* @__PURE__ */ getter(Symbol.toStringTag);
const getLength = /* @__PURE__ */ getter("length");

/** Returns `true` if a value is a Uint8Array from any realm. */
export function isBytes(value: unknown): value is Uint8Array {
  return getTypeTag.call(value) === "Uint8Array";
}

/** Returns `value` if it is a Uint8Array, and throws otherwise. A detached array is accepted and has length 0. */
export function checkBytes(value: unknown, field: string): Uint8Array {
  if (isBytes(value)) return value;
  throw invalidType("Uint8Array", value, { field });
}

/** Checks that an ID is a Uint8Array of 16 bytes, and returns the bytes. */
export function checkSixteenBytes(id: unknown): number[] {
  const length = arrayLength(checkBytes(id, "id"));
  if (length !== 16) throw invalidLength(16, length, { field: "id" });
  return Array.from(byteRange(id as Uint8Array, 0, 16));
}

/**
 * Returns `value` if it is a BigInt64Array from any realm, and throws otherwise. A detached array is accepted and has length 0.
 */
export function checkBigInt64Array(value: unknown, field: string): BigInt64Array {
  if (getTypeTag.call(value) === "BigInt64Array") return value as BigInt64Array;
  throw invalidType("BigInt64Array", value, { field });
}

/** The values of one field in many IDs: numbers, or bigints if the field has more than 53 bits. */
export type Column = Float64Array | BigInt64Array;

/** Returns `true` if a value is a column from any realm. */
export function isColumn(value: unknown): value is Column {
  return getTypeTag.call(value) === "BigInt64Array" || isNumbers(value);
}

/** Returns `true` if a value is a Float64Array from any realm. */
export function isNumbers(value: unknown): value is Float64Array {
  return getTypeTag.call(value) === "Float64Array";
}

/** Returns the number of elements in an array, ignoring overrides in subclasses. */
export function arrayLength(value: Uint8Array | Column): number {
  return getLength.call(value) as number;
}

/** Returns a view of part of an array's bytes, ignoring overrides in subclasses. The part must be within the array. */
export function byteRange(value: Uint8Array | Column, from: number, length: number): Uint8Array {
  if (length === 0) return new Uint8Array(0); // This also covers arrays whose buffer was transferred.
  return new Uint8Array(getBuffer.call(value) as ArrayBuffer, (getByteOffset.call(value) as number) + from, length);
}
