import type { GuardedClock } from "./clock.js";
import { type ErrorCode, type ErrorDetails, PolyflakeError } from "./errors.js";
import type { LentTable } from "./partitions.js";
import {
  BYTES,
  type CallName,
  clockSlots,
  errorSlots,
  messageSlots,
  NUMBERS,
  pieceSlots,
  type TableCallName,
} from "./protocol.js";
import { take } from "./slots.js";
import { decode, putAscii } from "./utf8.js";

/** A call without arguments: 0 means success. */
export type Call = () => number | undefined;

/**
 * The calls of the native addon and the wasm modules: arguments and results lie in the scratch area. A wasm module has the calls of
 * its family; the addon has all, and those of its table of default partitions.
 */
export type Calls = Record<CallName, Call> & { [Name in TableCallName]?: Call };

/** Returns the next ID of a generator, whose handle lies in the scratch area; undefined for a refusal. */
export type Next<Id> = () => Id | undefined;

/** A loaded machine: its calls, and the place of its scratch area. */
export interface Backend {
  readonly kind: "native" | "wasm";
  readonly calls: Calls;
  /** The calls that make one ID as functions that return it: only on native, where that is faster than to read the scratch area. */
  readonly makers?: { readonly [Name in CallName]?: Next<unknown> };
  /** Sets the clock for the next generator that is built. */
  readonly setClock: (clock: GuardedClock) => void;
  /** Lends the machine the table from which default partitions are leased. */
  readonly lend: (table: LentTable) => void;
  /** The system's clock, in Unix milliseconds, if reading it here is cheaper than in the machine. */
  readonly now?: () => number;
  /** `true` on platforms whose clock stands still while a call runs, so that no call can wait for the next tick. */
  readonly standsStill?: boolean;
  /** The current buffer of the scratch area: wasm memory gets another one when it grows. */
  readonly buffer: () => ArrayBuffer;
  readonly offset: number;
}

/** Size of the scratch area in bytes. */
export const SCRATCH = NUMBERS * 8 + BYTES;

/** Most IDs of one `generateMany`: their memory is allocated before the first is made. */
export const MOST = 1 << 24;

/** Number of texts cut out of one string: more saves little time, and the string stays in memory as long as any of its texts. */
const CUT = 32;

/** Adds details that only this side knows to an error; returns a message if it has a better one. */
type More = (error: ErrorDetails, code: ErrorCode, message: string) => string | undefined;

/** A machine in use: shows the scratch area as views, and throws errors. */
export class Machine {
  readonly calls: Calls;
  readonly setClock: Backend["setClock"];
  readonly lend: Backend["lend"];
  readonly standsStill: boolean;
  /** The table that it was lent; false if it has its own. */
  lent?: LentTable | false;
  /** The slots of arguments and answers, as in protocol.ts. */
  numbers!: Float64Array;
  /** The same slots, as integers of 64 bits. */
  bigints!: BigInt64Array;
  bytes!: Uint8Array;
  readonly kind: Backend["kind"];
  readonly #view: () => void;

  readonly #makers: Backend["makers"];
  readonly #now: Backend["now"];
  readonly #nameOf: (field: string) => string;

  /** `nameOf` turns the core's names of fields into those of errors. */
  constructor({ kind, calls, makers, setClock, lend, now, standsStill, buffer, offset }: Backend, nameOf = camelCase) {
    this.kind = kind;
    this.calls = calls;
    this.setClock = setClock;
    this.lend = lend;
    this.standsStill = standsStill === true;
    this.#makers = makers;
    this.#now = now;
    this.#nameOf = nameOf;
    this.#view = () => {
      this.numbers = new Float64Array(buffer(), offset, NUMBERS);
      this.bigints = new BigInt64Array(buffer(), offset, NUMBERS);
      this.bytes = new Uint8Array(buffer(), offset + NUMBERS * 8, BYTES);
    };
    this.#view();
  }

  /** Checks the status of a call, and throws its error, completed by `more`. */
  check(status: number | undefined, more?: More): void {
    this.look();
    if (status !== 0) throw this.#error(more);
  }

  /** Renews the views if a call moved the scratch area, which any call may do. */
  look(): void {
    if (this.bytes.length === 0) this.#view();
  }

  /**
   * A call that makes an ID, as a function that returns it; `read` reads it from the scratch area. A call that reads the machine's own
   * clock is given the time, before anything else can run.
   */
  maker<Id>(name: CallName, read: (m: Machine) => Id, readsClock: boolean): Next<Id> {
    const maker = this.#makers?.[name];
    if (maker) return maker as Next<Id>;
    const [call, now] = [this.calls[name], readsClock ? this.#now : undefined];
    return () => {
      if (now) this.numbers[clockSlots.now] = now();
      const status = call();
      this.look();
      return status === 0 ? read(this) : undefined;
    };
  }

  /** Hands over the piece of a message that lies at the start of the bytes, after which another piece follows. */
  putPiece(offset: number, length: number): void {
    this.numbers[pieceSlots.offset] = offset;
    this.numbers[messageSlots.length] = length;
    this.check(this.calls.putPiece());
  }

  /** Fetches the next piece of an answer to the start of the bytes. */
  nextPiece(): void {
    this.check(this.calls.nextPiece());
  }

  /** Writes an ASCII text at the start of the bytes; false if there is no text, or if it is not ASCII or does not fit. */
  putAscii(text: string | undefined): boolean {
    return text !== undefined && putAscii(text, this.bytes);
  }

  /** The ASCII text of `length` bytes. */
  ascii(from: number, length: number): string {
    let text = "";
    for (let at = from; text.length < length; at += 16) text += sixteen(this.bytes, at);
    return text.length === length ? text : text.slice(0, length);
  }

  /** The text of 16 characters at `index`. */
  text(index: number): string {
    return sixteen(this.bytes, index * 16);
  }

  /**
   * Puts the texts of `count` cells of `width` bytes each into `texts`, from index `to` on.
   *
   * Makes one string for {@link CUT} texts and cuts each out of it, in a third of the time of a string for each. A caller who
   * keeps one text keeps all of these in memory.
   */
  cut(texts: string[], to: number, count: number, width: number, lengthOf = (_index: number): number => width): void {
    for (let from = 0; from < count; from += CUT) {
      const end = Math.min(from + CUT, count);
      const joined = decode(this.bytes.subarray(from * width, end * width));
      for (let k = from; k < end; k++) {
        const at = (k - from) * width;
        texts[to + k] = joined.substring(at, at + lengthOf(k));
      }
    }
  }

  /** The error that a call left in the scratch area (bindings-js/src/errors.rs). */
  #error(more?: More): PolyflakeError {
    const slots = take(this.numbers, errorSlots);
    const { position, retryAt, written, item, codeLength, fieldLength, messageLength } = slots;
    const texts = this.#texts(codeLength, fieldLength || 0, messageLength);
    const name = Number.isNaN(fieldLength) ? undefined : this.#nameOf(texts[1]);
    const details: ErrorDetails = {
      ...(Number.isNaN(position) ? {} : { position }),
      ...(Number.isNaN(retryAt) ? {} : { retryAt }),
      ...(Number.isNaN(written) ? {} : { written }),
      ...(Number.isNaN(item) ? {} : { item }),
      ...(name === undefined ? {} : { field: name }),
    };
    const kind = texts[0] as ErrorCode;
    const own = name ? texts[2].replace(texts[1], () => name) : texts[2];
    const text = more?.(details, kind, own) ?? own;
    return new PolyflakeError(kind, text, details);
  }

  #texts(code: number, field: number, message: number): [string, string, string] {
    const text = (from: number, length: number) => decode(this.bytes.subarray(from, from + length));
    return [text(0, code), text(code, field), text(code + field, message)];
  }
}

/** The ASCII text of 16 bytes. One call of `fromCharCode` with 16 codes is the fastest way. */
function sixteen(b: Uint8Array, at: number): string {
  return String.fromCharCode(
    b[at]!,
    b[at + 1]!,
    b[at + 2]!,
    b[at + 3]!,
    b[at + 4]!,
    b[at + 5]!,
    b[at + 6]!,
    b[at + 7]!,
    b[at + 8]!,
    b[at + 9]!,
    b[at + 10]!,
    b[at + 11]!,
    b[at + 12]!,
    b[at + 13]!,
    b[at + 14]!,
    b[at + 15]!,
  );
}

/** The name of an option in camel case, as JavaScript has it. */
function camelCase(name: string): string {
  const [first, ...others] = name.split("_");
  return first + others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** Returns a function that loads a machine of this copy of the package at its first use. */
export function onDemand(load: () => Backend, nameOf?: (field: string) => string): () => Machine {
  let loaded: Machine | undefined;
  return () => (loaded ??= new Machine(load(), nameOf));
}
