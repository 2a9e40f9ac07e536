// Converts between the protocol's values and JavaScript values.

/** Decodes a hexadecimal string. */
export function bytesOf(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Reads a VALUE. A decimal string represents an integer, `{ hex }` represents bytes, and `{ text }` represents a
 * string. Any other value is returned unchanged.
 */
export function decodeValue(value) {
  if (typeof value === "string") return BigInt(value);
  if (typeof value?.hex === "string") return bytesOf(value.hex);
  return typeof value?.text === "string" ? value.text : value;
}

/** Reads named values. Returns an empty object if `values` is omitted. */
export function decodeValues(values = {}) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, decodeValue(value)]));
}

/**
 * Writes a field's value. The value of an integer field is a JavaScript number if JavaScript numbers represent every
 * integer in the field's range exactly. Otherwise, the value is a bigint.
 */
export function encodeValue(value) {
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return String(value);
  if (typeof value === "string") return { text: value };
  if (value instanceof Uint8Array) return { hex: toHex(value) };
  throw new Error(`expected a value of a field, found ${value}`);
}

export function encodeValues(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, encodeValue(value)]));
}

/** Returns an integer as a decimal string, or null if the integer is undefined. */
export function decimal(number) {
  return number === undefined ? null : String(number);
}

/** Returns a format's description in the protocol's FIGURES form. */
export function figures({ bits, fields, sortsByTime, below2_53, below2_63, ...integers }) {
  return {
    bits,
    fields,
    per_second: decimal(integers.perSecond),
    per_second_in_all: decimal(integers.perSecondInAll),
    first_ms: decimal(integers.firstMs),
    last_ms: decimal(integers.lastMs),
    sorts_by_time: sortsByTime,
    below_2_53: below2_53,
    below_2_63: below2_63,
  };
}
