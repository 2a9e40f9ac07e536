import type { ErrorCode } from "./codes.js";

export type { ErrorCode } from "./codes.js";

/** The properties that an error can have in addition to its code. */
export interface ErrorDetails {
  position?: number;
  field?: string;
  retryAt?: number;
  written?: number;
  item?: number;
  cause?: unknown;
}

/**
 * The class of all errors that this package throws. A call that throws such an error has no effect.
 *
 * Distinguish errors by `code`, not by class, because each copy of this package, such as a bundled one, has its own class. The
 * causes of each code and the remedies are listed at https://example.invalid/polyflake/blob/main/docs/errors.md
 */
export class PolyflakeError extends Error {
  /** The stable error code. It is the same in every language binding. */
  readonly code: ErrorCode;
  /** The zero-based index of the first invalid character, in UTF-16 code units. */
  declare readonly position?: number;
  /** The name of the rejected parameter, field or option. */
  declare readonly field?: string;
  /** The earliest time at which a retry can succeed, in Unix milliseconds. */
  declare readonly retryAt?: number;
  /** The number of IDs that a batch call generated before the error. */
  declare readonly written?: number;
  /** The zero-based index of the rejected item, if the call accepts several items. */
  declare readonly item?: number;

  /** Creates an error with a code, a message and details, for tests and for custom clocks. */
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.code = code;
    Object.assign(this, details);
  }

  /**
   * Returns the code, the message and the details as an object that can be logged or sent to another thread. A structured
   * clone of the error would lose the code.
   */
  toJSON(): { code: ErrorCode; message: string } & ErrorDetails {
    return { ...this, message: this.message };
  }

  /** The name `PolyflakeError`, even in minified code. */
  override get name(): string {
    return "PolyflakeError";
  }
}

/**
 * Creates the error for a value of the wrong type. The message describes the value without converting it or calling its
 * methods.
 */
export function invalidType(expected: string, value: unknown, details?: ErrorDetails): PolyflakeError {
  const found = typeof value === "number" ? value : value === null ? "null" : typeof value;
  const place = details?.field === undefined ? "" : ` for \`${details.field}\``;
  return new PolyflakeError("invalid_type", `expected ${expected}${place}, found ${found}`, details);
}

/**
 * Returns the name of a value's class or, if the value has no class, the name of its type. This function runs none of the
 * value's code, except for the traps of a proxy.
 */
export function className(value: unknown): string {
  try {
    if (value === null) return "null";
    if (typeof value !== "object") return typeof value;
    const maker: unknown = getDataProperty(Object.getPrototypeOf(value), "constructor");
    const name = typeof maker === "function" ? getDataProperty(maker, "name") : undefined;
    return typeof name === "string" && name !== "" ? name.slice(0, 40) : "object";
  } catch {
    return "object";
  }
}

/** Returns the value of an object's own property, or undefined if the property is missing or an accessor. */
const getDataProperty = (object: object | null, name: string): unknown =>
  object && Object.getOwnPropertyDescriptor(object, name)?.value;

/** Creates the error for a string or a byte array that has the wrong length. */
export function invalidLength(expected: number | string, found: number, details?: ErrorDetails): PolyflakeError {
  return new PolyflakeError("invalid_length", `expected length ${expected}, found ${found}`, details);
}

/** Creates the error for a number outside the given limits, which are inclusive. */
export function outOfRange(
  least: number | bigint,
  most: number | bigint,
  found: unknown,
  field: string,
): PolyflakeError {
  return new PolyflakeError("out_of_range", `expected ${field} from ${least} to ${most}, found ${found}`, { field });
}

/**
 * Creates the error for the first invalid character in a string. The message shows a printable ASCII character as it is, and
 * any other character as its code.
 */
export function invalidCharacter(text: string, position: number, details?: ErrorDetails): PolyflakeError {
  const code = text.charCodeAt(position);
  return invalidCodeError(code, "U+", position, details);
}

/** Creates the error for the first invalid byte, with a message like the one from {@link invalidCharacter}. */
export function invalidByte(byte: number, position: number, details?: ErrorDetails): PolyflakeError {
  return invalidCodeError(byte, byte > 127 ? "byte 0x" : "U+", position, details);
}

function invalidCodeError(code: number, prefix: string, position: number, details?: ErrorDetails): PolyflakeError {
  const shown =
    code > 31 && code < 127
      ? `\`${String.fromCharCode(code)}\``
      : prefix + code.toString(16).toUpperCase().padStart(4, "0");
  return new PolyflakeError("invalid_character", `invalid character ${shown} at position ${position}`, {
    position,
    ...details,
  });
}
