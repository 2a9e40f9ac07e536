import type { GuardedClock } from "./clock.js";
import { type ErrorCode, type ErrorDetails, PolyflakeError } from "./errors.js";
import type { LentTable } from "./partitions.js";
import { decode, putAscii } from "./utf8.js";

/** A call without arguments: 0 means done. */
export type Call = () => number | undefined;

/** The calls of bindings-js, by family: each family's folder adds its own. */
export interface FamilyCalls {}

/** All calls, by their names. */
export type CallName = "release" | "putPiece" | "nextPiece" | "turn" | { [Family in keyof FamilyCalls]: `${Family}${FamilyCalls[Family]}` }[keyof FamilyCalls];

/**
 * The calls that the native addon and the wasm modules share: arguments and results lie in the scratch area. A wasm module
 * has those of its family; the addon also has those of its table of default partitions.
 */
export type Calls = Record<CallName, Call> & { [Name in `partitions${"Next" | "Until" | "Swap"}`]?: Call };

/** Gives the next ID of the generator whose handle is in the first slot; undefined where it is refused. */
export type Next<Id> = () => Id | undefined;

/** The calls that make one ID, and what they give as it: each family's folder adds its own. */
export interface Ids {}

/** A machine as it comes: its calls, and where its scratch area lies. */
export interface Backend {
  readonly kind: "native" | "wasm";
  readonly calls: Calls;
  /** The same calls as functions that give the ID: only on native, where that is faster than to read it here. */
  readonly makers?: { readonly [Name in keyof Ids]: Next<Ids[Name]> };
  /** Sets the clock of the generator that is built next. */
  readonly setClock: (clock: GuardedClock) => void;
  /** Lends the machine the table that its default partitions are leased from. */
  readonly lend: (table: LentTable) => void;
  /** The buffer that holds the scratch area now: wasm memory gets another when it grows. */
  readonly buffer: () => ArrayBuffer;
  readonly offset: number;
}

/** The layout of the scratch area, as bindings-js/src/scratch.rs has it. */
const NUMBERS = 32;
export const BYTES = 16 * 1024;
/** The slot that says where in its message a piece lies. */
export const OFFSET = NUMBERS - 1;
/** The slot that says how long to sleep before a call's next turn, in nanoseconds; NaN where the call is done. */
export const SLEEP = NUMBERS - 2;
/** Bytes of the scratch area. */
export const SCRATCH = NUMBERS * 8 + BYTES;

/** IDs that one call converts or makes. */
export const BATCH = 1024;

/** The most IDs of one `generateMany`: their memory is asked for before the first is made. */
export const MOST = 1 << 24;

/** Texts that are cut out of one string: past these there is little to win, and such a string stays as long as any of its texts. */
const CUT = 32;

/** Stands for a value that was not given. */
export const ABSENT = NaN;

/** Adds what only this side knows of an error; gives its message where there is a better one. */
type More = (error: ErrorDetails, code: ErrorCode) => string | void;

/** A machine in use: the scratch area as views, and errors thrown. */
export class Machine {
  readonly calls: Calls;
  readonly setClock: Backend["setClock"];
  readonly lend: Backend["lend"];
  /** The table that it was lent; false where it has one of its own. */
  lent?: LentTable | false;
  numbers!: Float64Array;
  /** The same slots, for integers of 64 bits. */
  bigints!: BigInt64Array;
  bytes!: Uint8Array;
  readonly #view: () => void;

  readonly #makers: Backend["makers"];
  readonly #nameOf: (field: string) => string;

  /** `nameOf` gives the names of fields in errors. */
  constructor({ calls, makers, setClock, lend, buffer, offset }: Backend, nameOf = camelCase) {
    this.calls = calls;
    this.setClock = setClock;
    this.lend = lend;
    this.#makers = makers;
    this.#nameOf = nameOf;
    this.#view = () => {
      this.numbers = new Float64Array(buffer(), offset, NUMBERS);
      this.bigints = new BigInt64Array(buffer(), offset, NUMBERS);
      this.bytes = new Uint8Array(buffer(), offset + NUMBERS * 8, BYTES);
    };
    this.#view();
  }

  /** Looks at a call's answer: throws what it refused with, and what `more` there is to say. */
  check(status: number | undefined, more?: More): void {
    this.look();
    if (status !== 0) throw this.#error(more);
  }

  /** Looks whether the scratch area is where it was, which every call may change. */
  look(): void {
    if (this.bytes.length === 0) this.#view();
  }

  /** A call that makes an ID as a function that gives it; `read` reads it out of the scratch area. */
  maker<Name extends keyof Ids>(name: Name, read: (m: Machine) => Ids[Name]): Next<Ids[Name]> {
    const call = this.calls[name];
    const next: Next<Ids[Name]> = () => {
      const status = call();
      this.look();
      return status === 0 ? read(this) : undefined;
    };
    return this.#makers?.[name] ?? next;
  }

  /** Writes a text of ASCII at the beginning of the bytes; false for none, for another, and for one that does not fit. */
  putAscii(text: string | undefined): boolean {
    return text !== undefined && putAscii(text, this.bytes);
  }

  /** The ASCII text of some bytes. */
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
   * The texts of so many cells among the bytes, of `width` bytes each: put into `texts`, from one on.
   *
   * A string for some of them at once, and each cut out of that: a third of the time of a string for each. Who keeps one such text
   * keeps {@link CUT} of them in memory.
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
    const [position, retryAt, written, item, code, field, message] = this.numbers as unknown as number[];
    const texts = this.#texts(code!, field! || 0, message!);
    const name = Number.isNaN(field) ? undefined : this.#nameOf(texts[1]);
    const details: ErrorDetails = {
      ...(Number.isNaN(position) ? {} : { position: position! }),
      ...(Number.isNaN(retryAt) ? {} : { retryAt: retryAt! }),
      ...(Number.isNaN(written) ? {} : { written: written! }),
      ...(Number.isNaN(item) ? {} : { item: item! }),
      ...(name === undefined ? {} : { field: name }),
    };
    const kind = texts[0] as ErrorCode;
    const text = more?.(details, kind) ?? (name ? texts[2].replace(texts[1], () => name) : texts[2]);
    return new PolyflakeError(kind, text, details);
  }

  #texts(code: number, field: number, message: number): [string, string, string] {
    const text = (from: number, length: number) => decode(this.bytes.subarray(from, from + length));
    return [text(0, code), text(code, field), text(code + field, message)];
  }
}

/** The ASCII text of 16 bytes. One call of `fromCharCode` with 16 codes beats every other way. */
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

/** Options have their names in camel case here. */
function camelCase(name: string): string {
  const [first, ...others] = name.split("_");
  return first + others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** A machine of this copy of the package, loaded at the first use. */
export function onDemand(load: () => Backend, nameOf?: (field: string) => string): () => Machine {
  let loaded: Machine | undefined;
  return () => (loaded ??= new Machine(load(), nameOf));
}
