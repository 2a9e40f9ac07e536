import type { Machine } from "./machine.js";
import {
  BYTES,
  register,
  TAG_FALSE,
  TAG_FRACTION,
  TAG_INTEGER,
  TAG_LIST,
  TAG_NEGATIVE_WIDE,
  TAG_NONE,
  TAG_NUMBER,
  TAG_OBJECT,
  TAG_OTHER,
  TAG_PIECE,
  TAG_TEXT,
  TAG_TRUE,
  TAG_WIDE,
} from "./protocol.js";
import { decode, encode } from "./utf8.js";

/** A value in the message that a call returns. */
export type Answer =
  | undefined
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Answer[]
  | { [name: string]: Answer };

/** Reads the message that a call returns. */
export class MessageReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(m: Machine) {
    this.#bytes = readAnswerBytes(m);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  /** Returns the next value, which must be an integer or undefined. */
  integer(): bigint | undefined {
    return this.value() as bigint | undefined;
  }

  value(): Answer {
    const tag = this.#view.getUint8(this.#at++);
    switch (tag) {
      case TAG_NONE:
        return undefined;
      case TAG_FALSE:
      case TAG_TRUE:
        return tag === TAG_TRUE;
      case TAG_NUMBER:
        this.#at += 8;
        return this.#view.getFloat64(this.#at - 8, true);
      case TAG_INTEGER:
        this.#at += 8;
        return this.#view.getBigInt64(this.#at - 8, true);
      case TAG_TEXT:
        return this.#text();
      case TAG_PIECE:
        return this.#piece();
      case TAG_WIDE:
        return integerOf(this.#piece());
      case TAG_LIST:
        return Array.from({ length: this.#length() }, () => this.value());
      case TAG_OBJECT:
        return Object.fromEntries(Array.from({ length: this.#length() }, () => [this.#text(), this.value()]));
      default:
        throw new Error(`expected a tag of a message, found ${tag}`);
    }
  }

  #length(): number {
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  #piece(): Uint8Array {
    const length = this.#length();
    this.#at += length;
    return this.#bytes.slice(this.#at - length, this.#at);
  }

  #text(): string {
    return decode(this.#piece());
  }
}

/** Returns all bytes of a call's result, whose first piece is in the scratch area. */
export function readAnswerBytes(m: Machine): Uint8Array {
  const answer = new Uint8Array(m.numbers[register.answer]!);
  for (let from = 0; from < answer.length; from += BYTES) {
    // The call that produced the result has already written the first piece.
    if (from > 0) m.nextPiece();
    answer.set(m.bytes.subarray(0, answer.length - from), from);
  }
  return answer;
}

/** Writes a message for a call. */
export class MessageWriter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Passes the message to the next call. */
  put(m: Machine): void {
    let from = 0;
    for (; this.#length - from > BYTES; from += BYTES) {
      m.bytes.set(this.#bytes.subarray(from, from + BYTES));
      m.putPiece(from, BYTES);
    }
    m.bytes.set(this.#bytes.subarray(from, this.#length));
    m.numbers[register.offset] = from;
    m.numbers[register.length] = this.#length - from;
  }

  /** The bytes written so far, for use in another message. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Discards all but the first `length` bytes. */
  keep(length: number): void {
    this.#length = length;
  }

  /** Writes bytes unchanged. */
  raw(bytes: Uint8Array): void {
    const at = this.#room(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** Writes a count or length. */
  length(length: number): void {
    const at = this.#room(4);
    this.#view.setUint32(at, length, true);
  }

  none(): void {
    this.#tag(TAG_NONE);
  }

  flag(value: boolean): void {
    this.#tag(value ? TAG_TRUE : TAG_FALSE);
  }

  fraction(): void {
    this.#tag(TAG_FRACTION);
  }

  list(length: number): void {
    this.#tag(TAG_LIST);
    this.length(length);
  }

  object(length: number): void {
    this.#tag(TAG_OBJECT);
    this.length(length);
  }

  integer(number: bigint): void {
    if (BigInt.asIntN(64, number) === number) {
      this.#tag(TAG_INTEGER);
      const at = this.#room(8);
      this.#view.setBigInt64(at, number, true);
      return;
    }
    this.#tag(number < 0n ? TAG_NEGATIVE_WIDE : TAG_WIDE);
    this.#piece(toMagnitudeBytes(number));
  }

  bytes(bytes: Uint8Array): void {
    this.#tag(TAG_PIECE);
    this.#piece(bytes);
  }

  text(text: string): void {
    this.#tag(TAG_TEXT);
    this.name(text);
  }

  /** Writes the type name of a value that no field accepts. */
  other(what: string): void {
    this.#tag(TAG_OTHER);
    this.name(what);
  }

  /** Writes a string without a tag. */
  name(name: string): void {
    if (!isShortAscii(name)) {
      this.#piece(encode(name));
      return;
    }
    this.length(name.length);
    const at = this.#room(name.length);
    for (let k = 0; k < name.length; k++) this.#bytes[at + k] = name.charCodeAt(k);
  }

  #tag(tag: number): void {
    const at = this.#room(1);
    this.#bytes[at] = tag;
  }

  #piece(bytes: Uint8Array): void {
    this.length(bytes.length);
    this.raw(bytes);
  }

  /** Reserves `count` bytes, and returns their position. */
  #room(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#length);
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }
}

/**
 * Returns whether a string is short and ASCII, as most names are. Such a string is written without the encoder, which saves a
 * microsecond.
 */
function isShortAscii(text: string): boolean {
  if (text.length > 64) return false;
  for (let k = 0; k < text.length; k++) if (text.charCodeAt(k) > 127) return false;
  return true;
}

/** Returns the integer that big-endian bytes represent. */
function integerOf(bytes: Uint8Array): bigint {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
  // The leading 0 makes this expression valid for empty input, too.
  return BigInt(`0x0${digits.join("")}`);
}

/** Returns the big-endian bytes of an integer's magnitude. */
function toMagnitudeBytes(number: bigint): Uint8Array {
  const digits = (number < 0n ? -number : number).toString(16);
  const evenDigits = digits.length % 2 === 0 ? digits : `0${digits}`;
  return Uint8Array.from({ length: evenDigits.length / 2 }, (_, k) =>
    Number.parseInt(evenDigits.slice(2 * k, 2 * k + 2), 16),
  );
}

/** Returns whether a string is valid Unicode, which means that it has no lone surrogates. */
export function isUnicode(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at)!;
    if (code >= 0xd800 && code <= 0xdfff) return false;
    if (code > 0xffff) at += 1;
  }
  return true;
}
