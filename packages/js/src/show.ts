/** Controls how `JSON.stringify`, consoles and `structuredClone` handle objects. */
import { isBytes } from "./checks.js";
import { PolyflakeError } from "./errors.js";

/** The key of the method that the consoles in Node, Deno and Bun call. */
const INSPECT = /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom");

/** The maximum number of IDs that a console shows for an array. */
const MAX_SHOWN = 6;

/**
 * Adds members to an object for `JSON.stringify`, consoles and `String`. The `kind` member prevents the object from being
 * cloned, because the copy would lose its class. The value of `kind` appears in the error message of `structuredClone`. All
 * objects of a class share the same members, so that test libraries can treat two objects as equal.
 */
export function addDisplay(object: object, toJSON: (this: never) => unknown, inspect: (this: never) => string): void {
  const kind = Symbol.for(`polyflake.${object.constructor.name}`);
  Object.assign(object, { kind, toJSON, toString: inspect, [INSPECT]: inspect });
}

/** Returns the JSON representation of many IDs, which is an array of strings. */
export function textsToJson(this: { texts(): string[] }): string[] {
  return this.texts();
}

/** Returns the JSON representation of an object that holds a secret or that exists only on this thread: an empty object. */
export function emptyJson(): object {
  return {};
}

/** Returns the string that a console shows for an object: the name of the object's class and a pair of empty braces. */
export function nameOf(this: object): string {
  return `${this.constructor.name} {}`;
}

/** Returns the string that a console shows for many IDs, which contains only the first few IDs. */
export function inspectFirstIds(this: Iterable<unknown> & { length: number; at(index: number): unknown }): string {
  const shown = Array.from({ length: Math.min(this.length, MAX_SHOWN) }, (_, k) => inspectId(this.at(k)));
  if (this.length > MAX_SHOWN) shown.push(`... ${this.length - MAX_SHOWN} more`);
  return `${this.constructor.name}(${this.length}) [${shown.length > 0 ? ` ${shown.join(", ")} ` : ""}]`;
}

function inspectId(id: unknown): string {
  if (typeof id === "bigint") return `${id}n`;
  return `'${isBytes(id) ? toHex(id) : String(id)}'`;
}

/** Returns bytes as a hexadecimal string. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte + 256).toString(16).slice(1)).join("");
}

/**
 * Adds a `toJSON` method to a plain object. In the JSON representation, bigints are decimal strings, as in a layout's
 * description, and bytes are hexadecimal strings. The method is not enumerable, so the object stays plain and can be cloned
 * without loss.
 */
export function withJson<T extends object>(object: T): T {
  // The descriptor has no prototype, because other code may have defined a getter on `Object.prototype`.
  const descriptor: PropertyDescriptor = Object.assign(Object.create(null), { value: membersToJson });
  return Object.defineProperty(object, "toJSON", descriptor);
}

function membersToJson(this: object): unknown {
  return Object.fromEntries(Object.entries(this).map(([name, value]) => [name, valueToJson(value)]));
}

function valueToJson(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (isBytes(value)) return toHex(value);
  const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? membersToJson.call(value) : value;
}

/** Converts a canonical decimal string to an integer. Returns undefined for any other string. */
export function parseDecimal(text: string): bigint | undefined {
  const digits = Array.from(text.startsWith("-") ? text.slice(1) : text);
  if (digits.length === 0 || !digits.every((digit) => "0123456789".includes(digit))) return undefined;
  const value = BigInt(text);
  return String(value) === text ? value : undefined;
}

/** Converts a lower-case hexadecimal string to bytes. Returns undefined for any other string. */
export function fromHex(text: string): Uint8Array | undefined {
  const digits = Array.from(text, (digit) => "0123456789abcdef".indexOf(digit));
  if (digits.includes(-1) || digits.length % 2 === 1) return undefined;
  return Uint8Array.from({ length: digits.length / 2 }, (_, k) => (digits[2 * k]! << 4) | digits[2 * k + 1]!);
}

/** The maximum length of a decimal integer. Every number in a description and every 64-bit field is shorter. */
const MAX_SHOWN_BYTES = 400;

/** Reads a bigint from its JSON representation. */
export function bigintFromJson(json: unknown, field: string): bigint {
  const value = typeof json === "string" && json.length <= MAX_SHOWN_BYTES ? parseDecimal(json) : undefined;
  if (value !== undefined) return value;
  throw invalidJson("a decimal text", field);
}

/** Reads bytes from their JSON representation. */
export function bytesFromJson(json: unknown, field: string): Uint8Array {
  const value = typeof json === "string" ? fromHex(json) : undefined;
  if (value) return value;
  throw invalidJson("hex in lower case", field);
}

function invalidJson(expected: string, field: string): PolyflakeError {
  return new PolyflakeError("invalid_type", `expected ${expected} for \`${field}\`, found another value`, { field });
}
