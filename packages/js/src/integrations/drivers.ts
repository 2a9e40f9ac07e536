/** Converts the values that database drivers accept and return. */
import { checkBytes, checkSigned, checkString } from "../checks.js";
import { invalidType } from "../errors.js";

/** Bytes that are not shared with other threads. */
export type Bytes = ReturnType<Uint8ArrayConstructor["from"]>;

/** Checks that a value from a driver is a string, and returns it. */
export function readText(value: unknown): string {
  return checkString(value, "value");
}

/** The pattern for bytes as PostgreSQL writes them in JSON: `\x`, followed by two hexadecimal digits for each byte. */
const HEX_PATTERN = /^\\x(?:[0-9a-f]{2})*$/;

/**
 * Returns the bytes in a value from a driver. The value can also be a hexadecimal string, because that is how PostgreSQL writes
 * bytes in JSON.
 */
export function readBytes(value: unknown): Uint8Array {
  // libSQL can return an ArrayBuffer from another realm, which `instanceof` would not recognize.
  if (Object.prototype.toString.call(value) === "[object ArrayBuffer]") return new Uint8Array(value as ArrayBuffer);
  if (typeof value === "string" && HEX_PATTERN.test(value))
    return Uint8Array.from(value.slice(2).match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  return checkBytes(value, "value");
}

/**
 * Converts bytes to a type that all drivers accept. In Node.js, this is a Buffer, because some drivers accept no other type.
 */
export function writeBytes(bytes: Uint8Array): Bytes {
  const { Buffer } = globalThis as { Buffer?: { from(bytes: Uint8Array): Bytes } };
  return Buffer ? Buffer.from(bytes) : Uint8Array.from(bytes);
}

/** The pattern for a decimal integer with at most as many digits as a 64-bit integer can have. */
const INTEGER_PATTERN = /^-?\d{1,19}$/;

/** Returns the integer in a value from a driver. Rejects numbers above 2^53, which may already have lost precision. */
export function readInteger(value: unknown): bigint {
  if (typeof value === "number" && !Number.isSafeInteger(value))
    throw invalidType("all 64 bits as bigint or text", value, { field: "value" });
  if (typeof value === "number" || (typeof value === "string" && INTEGER_PATTERN.test(value)))
    return readInteger(BigInt(value));
  if (typeof value === "bigint") return checkSigned(value, "value");
  throw invalidType("integer", value, { field: "value" });
}
