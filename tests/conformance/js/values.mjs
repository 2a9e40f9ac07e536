// Converts the protocol's values to JavaScript's, and back.

/** The bytes of a hex text. */
export function bytesOf(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function hexOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A VALUE: an integer as a decimal string, bytes as `{ hex }`, text as `{ text }`; anything else stands for itself. */
export function read(value) {
  if (typeof value === "string") return BigInt(value);
  if (typeof value?.hex === "string") return bytesOf(value.hex);
  return typeof value?.text === "string" ? value.text : value;
}

/** Named values, which may be missing. */
export function readAll(values = {}) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, read(value)]));
}

/** A value that was read. An integer is a number only if numbers hold all integers of its field. */
export function write(value) {
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return String(value);
  if (typeof value === "string") return { text: value };
  if (value instanceof Uint8Array) return { hex: hexOf(value) };
  throw new Error(`expected a value of a field, found ${value}`);
}

export function writeAll(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, write(value)]));
}

/** An integer, which may be missing. */
export function decimal(number) {
  return number === undefined ? null : String(number);
}

/** FIGURES of the protocol. */
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
