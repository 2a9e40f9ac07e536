import { checkString } from "../checks.js";
import { PolyflakeError } from "../errors.js";
import { isUnicode, type MessageReader, type MessageWriter } from "../message.js";

/** The type of an ID: a signed 64-bit integer, or bytes. */
export type Kind = "integer" | "bytes";

/** An integer. If it exceeds 2^53, it is a decimal string or a bigint. */
export type Integer = number | bigint | string;

/**
 * A description of a layout, which lists the fields of an ID starting with the most significant one. Its JSON
 * representation is the same in every language.
 */
export interface LayoutDescription<K extends Kind = Kind, Fields extends readonly Field[] = readonly Field[]> {
  /** The type of an ID. */
  id: K;
  /** The number of bits in an ID: 64 for an integer, a multiple of 8 up to 1,024 for bytes. */
  bits: number;
  /** The fields, which must fill all the bits. */
  fields: Fields;
  /** `true` if no generator can be created from the layout. */
  only_read?: boolean;
}

/** The properties that all kinds of fields have. */
interface AnyField {
  /** The width in bits, which can be 0. */
  bits: number;
  /** `true` if all bits of the field are flipped, for example to sort the newest IDs first. */
  invert?: boolean;
}

/** A layout's field. */
export type Field =
  /**
   * The time, in ticks since the tick that contains `epoch_ms` (Unix milliseconds). The length of a tick is written as an
   * integer followed by a unit: `us`, `ms` or `s`.
   */
  | (AnyField & { kind: "timestamp"; tick: string; epoch_ms: Integer })
  /** The sequence number within a tick, starting at `start` (0 by default). */
  | (AnyField & { kind: "sequence"; start?: Integer })
  /** A value that is the same in every ID. Bytes, which only byte layouts support, are written as a hexadecimal string. */
  | (AnyField & { kind: "constant"; name?: string; type?: "integer" | "bytes" | "text"; value: Integer })
  /** A value that you set for a generator or pass for each ID. */
  | (AnyField & { kind: "bindable"; name?: string; type?: "integer" | "bytes" | "text" })
  /** Bits that are zero in every new ID, and ignored when an ID is read. */
  | (AnyField & { kind: "unused" });

/** The maximum nesting depth of lists and objects in a description. */
const MAX_DEPTH = 8;

const MAX_EXACT_INTEGER = 2 ** 53;

function invalidLayoutError(message: string, cause?: unknown): PolyflakeError {
  return new PolyflakeError("invalid_layout", message, cause === undefined ? {} : { cause });
}

/**
 * Writes a description or snapshot to a new message of the class `Writer`, and returns the message. Values that JSON does
 * not support are rejected, and errors from getters propagate.
 */
export function toMessage<W extends MessageWriter>(description: unknown, Writer: new () => W): W {
  const message = new Writer();
  writeValue(message, description, 0);
  return message;
}

function writeValue(message: MessageWriter, value: unknown, depth: number): void {
  if (value === null || value === undefined) message.none();
  else if (typeof value === "boolean") message.flag(value);
  else if (typeof value === "number") writeNumber(message, value);
  else if (typeof value === "bigint") message.text(`${value}`);
  else if (typeof value === "string") message.text(checkUnicode(value));
  else if (Array.isArray(value)) writeList(message, value, nextDepth(depth));
  else if (typeof value === "object") writeObject(message, value, nextDepth(depth));
  else throw invalidLayoutError(`expected a JSON value, found ${typeof value}`);
}

function writeNumber(message: MessageWriter, value: number): void {
  if (Number.isInteger(value) && Math.abs(value) <= MAX_EXACT_INTEGER) message.integer(BigInt(value));
  else message.fraction();
}

function writeList(message: MessageWriter, list: readonly unknown[], depth: number): void {
  const { length } = list;
  message.list(length);
  for (let k = 0; k < length; k++) writeValue(message, list[k], depth);
}

/** Writes an object. Properties with the value undefined are omitted, as in `JSON.stringify`. */
function writeObject(message: MessageWriter, object: object, depth: number): void {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  message.object(members.length);
  for (const [name, value] of members) {
    message.name(checkUnicode(name));
    writeValue(message, value, depth);
  }
}

function checkUnicode(text: string): string {
  if (isUnicode(text)) return text;
  throw invalidLayoutError("expected texts without lone surrogates");
}

/** Parses a JSON string without losing data. Rejects duplicate members and numbers that JavaScript would round. */
export function parseJson(text: unknown): unknown {
  const { members, numbers } = scanJson(checkString(text, "text"));
  const invalidNumber = numbers.find((number) => !isPlain(number));
  let parsed: unknown;
  try {
    parsed = JSON.parse(text as string);
  } catch (cause) {
    throw invalidLayoutError(`expected JSON: ${(cause as Error).message}`, cause);
  }
  if (invalidNumber !== undefined)
    throw invalidLayoutError(`expected integers of at most 2^53, found ${invalidNumber.slice(0, 40)}`);
  if (countMembers(parsed) !== members)
    throw invalidLayoutError("expected each name once in an object, found one twice");
  return parsed;
}

/**
 * Returns the numbers in a JSON string, and how many members it contains. Each colon outside a string literal counts as one
 * member.
 */
function scanJson(text: string): { members: number; numbers: string[] } {
  const numbers: string[] = [];
  let members = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') at = findStringEnd(text, at);
    else if (character === ":") members += 1;
    else if (character === "[" || character === "{") depth = nextDepth(depth);
    else if (character === "]" || character === "}") depth -= 1;
    else if (isNumberCharacter(character) && !isNumberCharacter(text[at - 1])) numbers.push(scanNumber(text, at));
  }
  return { members, numbers };
}

/** Returns the next nesting level, and throws if it exceeds the maximum. */
function nextDepth(depth: number): number {
  if (depth < MAX_DEPTH) return depth + 1;
  throw invalidLayoutError(`expected a description of at most ${MAX_DEPTH} levels, found more`);
}

/** Returns the position of the quotation mark that ends the string literal starting at `start`. */
function findStringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

function isNumberCharacter(character: string | undefined): boolean {
  return character !== undefined && "+-.0123456789".includes(character);
}

function scanNumber(text: string, start: number): string {
  let end = start;
  while (isNumberCharacter(text[end]) || text[end] === "e" || text[end] === "E") end += 1;
  return text.slice(start, end);
}

/** Returns whether a JSON number is an integer that JavaScript reads without rounding and writes with the same digits. */
function isPlain(number: string): boolean {
  const value = Number(number);
  return String(value) === number && Number.isInteger(value) && Math.abs(value) <= MAX_EXACT_INTEGER;
}

/** Returns the total number of members in all objects within a value. */
function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const memberCount = Object.values(value).reduce((sum: number, member) => sum + countMembers(member), 0);
  return Array.isArray(value) ? memberCount : memberCount + Object.keys(value).length;
}

/** Returns the JSON value in the result of a call, with the types that `JSON.parse` would use. */
export function jsonOf(message: MessageReader): unknown {
  return toPlainNumbers(message.value());
}

function toPlainNumbers(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.map(toPlainNumbers);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toPlainNumbers(member)]));
}
