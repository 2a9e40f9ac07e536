import { arrayLength, byteRange, isBytes, millisecondsOf } from "../checks.js";
import { PolyflakeError } from "../errors.js";
import { entries, members } from "../members.js";
import { isUnicode, MessageWriter } from "../message.js";

/**
 * The value of a field: an integer (a bigint, or a number that JavaScript represents exactly), bytes or a string. Each field
 * accepts only the type that its description states.
 */
export type Value = number | bigint | Uint8Array | string;

/** The values of fields, by field name. */
export type Values = Readonly<Record<string, Value>>;

/** The maximum width of a field whose values are numbers. */
export const NUMBER_BITS = 53;

/** The roles that a value can have. See crates/bindings-js/src/layout/ids.rs. */
export const TIME = 0;
export const SEQUENCE = 1;
export const BINDABLE = 2;
export const CONSTANT = 3;

/** Writes values as a message. The core decides which values to reject, and which error to report first. */
export class ValuesWriter extends MessageWriter {
  /** A list that contains the time of an ID as the caller passed it. */
  times: readonly unknown[] = [];

  /** Writes all values for an ID. */
  all(values: unknown): void {
    const given = members(values, "values", ["timestamp", "sequence", "bindables", "constants"]);
    this.bindables(given.bindables);
    for (const [name, value] of entries(given.constants, "constants")) this.field(CONSTANT, name, value);
    this.times = [given.timestamp];
    if (given.timestamp !== undefined) this.field(TIME, "timestamp", toBigIntMs(given.timestamp));
    if (given.sequence !== undefined) this.field(SEQUENCE, "sequence", given.sequence);
  }

  bindables(bindables: unknown): void {
    for (const [name, value] of entries(bindables, "bindables")) this.field(BINDABLE, name, value);
  }

  /** Writes the value of one field. */
  field(role: number, name: string, value: unknown): void {
    this.length(role);
    this.name(name);
    this.value(value, name);
  }

  /** Writes names and values without roles. Their order is fixed, so that equal values produce equal messages. */
  pairs(values: unknown, field: string): void {
    for (const [name, value] of entries(values, field).sort(([one], [other]) => (one < other ? -1 : 1))) {
      this.name(name);
      this.value(value, name);
    }
  }

  /** Writes a name and a range of numbers, as an entry in a list of names and values. */
  range(name: string, first: bigint, last: bigint): void {
    this.name(name);
    this.list(2);
    this.integer(first);
    this.integer(last);
  }

  /** Writes a value of any type. */
  value(value: unknown, field: string): void {
    if (typeof value === "bigint") this.integer(value);
    else if (typeof value === "number" && Number.isSafeInteger(value)) this.integer(BigInt(value));
    else if (typeof value === "string") this.text(checkUnicode(value, field));
    else if (isBytes(value)) this.bytes(byteRange(value, 0, arrayLength(value)));
    else this.other(nameOf(value));
  }
}

/** Returns a time in whole milliseconds as a bigint. Any other value is returned unchanged, so that the core rejects it. */
function toBigIntMs(time: unknown): unknown {
  const ms = typeof time === "number" ? time : millisecondsOf(time);
  return ms !== undefined && Number.isInteger(ms) ? BigInt(ms) : time;
}

function checkUnicode(text: string, field: string): string {
  if (isUnicode(text)) return text;
  throw new PolyflakeError("invalid_character", `expected a text without lone surrogates for \`${field}\``, { field });
}

/** Returns the name of a value's type for error messages. */
function nameOf(value: unknown): string {
  if (typeof value === "number") return "a fraction or a rounded number";
  if (Number.isNaN(millisecondsOf(value))) return "an invalid Date";
  return value === null ? "null" : typeof value;
}
