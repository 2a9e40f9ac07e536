import { entries, isBytes, lengthOfArray, millisecondsOf, partOfBytes } from "../checks.js";
import { PolyflakeError } from "../errors.js";
import { isUnicode, MessageWriter } from "../message.js";

/**
 * What a field may be given: an integer (a bigint, or a number that JavaScript holds exactly), bytes or text.
 *
 * Which one it takes, the field says; everything else is refused.
 */
export type Value = number | bigint | Uint8Array | string;

/** Values by the names of their fields. */
export type Values = Readonly<Record<string, Value>>;

/** What a value is for: see bindings-js/src/ids/layout.rs. */
const TIME = 0;
const SEQUENCE = 1;
const BINDABLE = 2;
const CONSTANT = 3;

/** A message of values; which of them are refused, and in which order, the core says. */
export class ValuesWriter extends MessageWriter {
  time(time: unknown): void {
    if (time === undefined) return;
    this.#role(TIME, "timestamp");
    const ms = typeof time === "number" ? time : millisecondsOf(time);
    if (ms !== undefined && Number.isInteger(ms)) this.integer(BigInt(ms));
    else this.value(time, "timestamp");
  }

  sequence(sequence: unknown): void {
    if (sequence === undefined) return;
    this.#role(SEQUENCE, "sequence");
    this.value(sequence, "sequence");
  }

  bindables(bindables: unknown): void {
    for (const [name, value] of entries(bindables, "bindables")) this.#named(BINDABLE, name, value);
  }

  constants(constants: unknown): void {
    for (const [name, value] of entries(constants, "constants")) this.#named(CONSTANT, name, value);
  }

  #named(role: number, name: string, value: unknown): void {
    this.#role(role, name);
    this.value(value, name);
  }

  #role(role: number, name: string): void {
    this.length(role);
    this.name(name);
  }

  /** Names and values alone. */
  pairs(values: unknown, field: string): void {
    for (const [name, value] of entries(values, field)) {
      this.name(name);
      this.value(value, name);
    }
  }

  /** A value of whatever type. */
  value(value: unknown, field: string): void {
    if (typeof value === "bigint") this.integer(value);
    else if (typeof value === "number" && Number.isSafeInteger(value)) this.integer(BigInt(value));
    else if (typeof value === "string") this.text(unicode(value, field));
    else if (isBytes(value)) this.bytes(partOfBytes(value, 0, lengthOfArray(value)));
    else this.other(nameOf(value));
  }
}

function unicode(text: string, field: string): string {
  if (isUnicode(text)) return text;
  throw new PolyflakeError("invalid_character", `a text with a lone surrogate: ${field}`, { field });
}

/** What to call a value in an error. */
function nameOf(value: unknown): string {
  if (typeof value === "number") return "a number that is no integer or may have been rounded";
  return value === null ? "null" : typeof value;
}
