import type { GuardedClock } from "./clock.js";
import { type ErrorCode, type ErrorDetails, PolyflakeError } from "./errors.js";
import type { BackendCallbacks } from "./lent.js";
import type { TableCallbacks } from "./partitions.js";
import { BYTES, type CallName, NUMBERS, register, type TableCallName } from "./protocol.js";
import { loadCount, sharedState } from "./restores.js";
import type { SharedGenerator, Sharing } from "./sharing.js";
import { decode, putAscii } from "./utf8.js";
import type { KeyCallbacks } from "./uuid7/keys.js";

/** A call without arguments. It returns 0 on success. */
export type Call = () => number | undefined;

/**
 * The calls of the native addon and the wasm modules, whose arguments and results are in the scratch area. A wasm module has
 * the calls for its format. The addon has all calls, including those for its partition table.
 */
export type Calls = Record<CallName, Call> & { [Name in TableCallName]?: Call };

/**
 * A function that returns the next ID from a generator, or undefined if the call failed. The generator's handle is in the
 * scratch area.
 */
export type NextFunction<Id> = () => Id | undefined;

/** A loaded backend: its calls, and the location of its scratch area. */
export interface Backend {
  readonly kind: "native" | "wasm";
  readonly calls: Calls;
  /**
   * Functions that generate one ID and return it directly. Only the native backend has them, because returning a value is
   * faster there than reading it from the scratch area.
   */
  readonly makers?: { readonly [Name in CallName]?: NextFunction<unknown> };
  /** Sets the clock for the next generator that is created. */
  readonly setClock: (clock: GuardedClock) => void;
  /** Shares the next generator that is created with other threads, which only the addon supports. */
  readonly share?: (sharing: Sharing) => void;
  /** Provides the table from which the backend assigns random partitions. */
  readonly lend: (table: TableCallbacks) => void;
  /** Provides a source of random bytes, if the backend cannot obtain random bytes from the operating system. */
  readonly lendKeys?: (keys: KeyCallbacks) => void;
  /** Reports a restore to a backend that only this thread uses. Such a backend does not compare the restore count itself. */
  readonly restored?: Call;
  /** Returns the system time in Unix milliseconds, if reading it here is cheaper than in the backend. */
  readonly now?: () => number;
  /** `true` on platforms whose clock does not advance during a call, so that no call can wait for the next tick. */
  readonly standsStill?: boolean;
  /** Returns the current buffer of the scratch area. Wasm memory gets a new buffer when it grows. */
  readonly buffer: () => ArrayBuffer;
  readonly offset: number;
}

/** The size of the scratch area, in bytes. */
export const SCRATCH_BYTES = NUMBERS * 8 + BYTES;

/**
 * The maximum number of IDs in one `generateMany` call. It is limited because memory is allocated before the first ID is
 * generated.
 */
export const MAX_COUNT = 1 << 24;

/**
 * The number of encoded IDs that are decoded into one string, from which the individual IDs are then sliced. A larger
 * number saves little time, and the whole string stays in memory as long as any of the IDs is in use.
 */
const IDS_PER_STRING = 32;

/**
 * A function that completes an error with details that are available only in JavaScript. It returns a better message, or
 * undefined to keep the original message.
 */
type CompleteError = (error: ErrorDetails, code: ErrorCode, message: string, isOfGrant: boolean) => string | undefined;

/** The numbers in a result or an error. Each call documents how many numbers it writes. */
type Answer = readonly [number, number, number, number, number, number, number, number, number, number];

/**
 * A backend with views of its scratch area, through which all calls pass their arguments and results (crates/bindings-js/src/lib.rs).
 *
 * - **Views.** JavaScript reads and writes the area as typed arrays, without a call. When wasm memory grows, it gets a new
 *   buffer, and views of the old buffer then have length 0. Any call can grow the memory, so the views are checked after
 *   each call.
 * - **One area for all calls.** A caller's clock may make a call in the middle of another call. Arguments are therefore
 *   written immediately before a call, and results are copied immediately after it, without any of the caller's code in
 *   between.
 * - **Errors.** A call returns a status and leaves its error in the area. The backend writes the error without allocating
 *   memory, because a stack overflow could interrupt the allocation.
 */
export class Machine {
  readonly calls: Calls;
  readonly setClock: Backend["setClock"];
  readonly share: Backend["share"];
  readonly lend: Backend["lend"];
  readonly lendKeys: Backend["lendKeys"];
  readonly standsStill: boolean;
  /** The live generators of this thread with explicit worker IDs. */
  readonly shared: Map<string, SharedGenerator[]> = new Map();
  /** The callbacks that were passed to the backend, or false if the backend uses its own partition table. */
  lent?: BackendCallbacks | false;
  /** The registers for arguments and results. See protocol.ts. */
  numbers!: Float64Array;
  /** The same registers, as 64-bit integers. */
  bigints!: BigInt64Array;
  bytes!: Uint8Array;
  /** The restore count as of the last report to the backend or, initially, as of this object's creation. */
  restores: number;
  readonly kind: Backend["kind"];
  readonly #view: () => void;

  readonly #makers: Backend["makers"];
  readonly #now: Backend["now"];
  readonly #nameOf: (field: string) => string;
  readonly #restored: Backend["restored"];
  readonly #count = sharedState().count;

  /** Creates the views. `nameOf` converts the core's field names to the names used in errors. */
  constructor(
    { kind, calls, makers, setClock, share, lend, lendKeys, restored, now, standsStill, buffer, offset }: Backend,
    nameOf = camelCase,
  ) {
    this.kind = kind;
    this.calls = calls;
    this.setClock = setClock;
    this.share = share;
    this.lend = lend;
    this.lendKeys = lendKeys;
    this.standsStill = standsStill === true;
    this.#makers = makers;
    this.#now = now;
    this.#nameOf = nameOf;
    this.#restored = restored;
    this.restores = loadCount(this.#count);
    this.#view = () => {
      this.numbers = new Float64Array(buffer(), offset, NUMBERS);
      this.bigints = new BigInt64Array(buffer(), offset, NUMBERS);
      this.bytes = new Uint8Array(buffer(), offset + NUMBERS * 8, BYTES);
    };
    this.#view();
  }

  /** Reports a restore to the backend if one was reported since the last call. */
  catchUp(): void {
    const count = loadCount(this.#count);
    if (count === this.restores) return;
    // Assign the count last, so that the next call repeats the report if the stack overflows during this call.
    this.#restored?.();
    this.restores = count;
  }

  /** Checks the status of a call. If the call failed, throws its error, to which `more` can add details. */
  check(status: number | undefined, more?: CompleteError): void {
    this.refreshViews();
    if (status !== 0) throw this.#error(more);
  }

  /** Recreates the views of the scratch area if a call has moved it. Any call can grow the memory, which moves the area. */
  refreshViews(): void {
    // Growing the wasm memory replaces its buffer, and existing views have length 0 from then on.
    if (this.bytes.length === 0) this.#view();
  }

  /**
   * Returns a function that generates an ID with the given call, and reads the ID from the scratch area with `read`. If the
   * call uses the system clock, the function passes the current time as an argument.
   */
  maker<Id>(name: CallName, read: (m: Machine) => Id, readsClock: boolean): NextFunction<Id> {
    const maker = this.#makers?.[name];
    if (maker) return maker as NextFunction<Id>;
    const [call, now] = [this.calls[name], readsClock ? this.#now : undefined];
    return () => {
      if (now) this.numbers[register.now] = now();
      const status = call();
      this.refreshViews();
      return status === 0 ? read(this) : undefined;
    };
  }

  /** Returns the numbers of a call's result. */
  answer(): Answer {
    return Array.from(this.numbers.subarray(register.answer)) as unknown as Answer;
  }

  /** Passes one piece of a message to the backend, which reads the piece from the start of `bytes`. More pieces follow. */
  putPiece(offset: number, length: number): void {
    this.numbers[register.offset] = offset;
    this.numbers[register.length] = length;
    this.check(this.calls.putPiece());
  }

  /** Requests the next piece of a call's result. The backend writes the piece to the start of the bytes. */
  nextPiece(): void {
    this.check(this.calls.nextPiece());
  }

  /** Writes an ASCII string at the start of the bytes. Returns false if the string is undefined, not ASCII or too long. */
  putAscii(text: string | undefined): boolean {
    return text !== undefined && putAscii(text, this.bytes);
  }

  /** Returns the ASCII string of `length` bytes that starts at index `from` of `bytes`. */
  ascii(from: number, length: number): string {
    let text = "";
    for (let at = from; text.length < length; at += 16) text += decodeSixteenBytes(this.bytes, at);
    return text.length === length ? text : text.slice(0, length);
  }

  /** Returns the 16-character string at `index`. */
  text(index: number): string {
    return decodeSixteenBytes(this.bytes, index * 16);
  }

  /**
   * Writes the strings in `count` cells of `width` bytes each into `texts`, starting at the index `to`.
   *
   * This method decodes {@link IDS_PER_STRING} cells into one string, and cuts the individual strings out of that string.
   * This takes a third of the time that decoding each cell separately would take. As long as one of these strings is in
   * use, all of them stay in memory.
   */
  cut(texts: string[], to: number, count: number, width: number, lengthOf = (_index: number): number => width): void {
    for (let from = 0; from < count; from += IDS_PER_STRING) {
      const end = Math.min(from + IDS_PER_STRING, count);
      const joined = decode(this.bytes.subarray(from * width, end * width));
      for (let k = from; k < end; k++) {
        const at = (k - from) * width;
        texts[to + k] = joined.substring(at, at + lengthOf(k));
      }
    }
  }

  /** Returns the error that a call left in the scratch area (crates/bindings-js/src/errors.rs). */
  #error(more?: CompleteError): PolyflakeError {
    const [position, retryAt, written, item, codeLength, fieldLength, messageLength, ofGrant] = this.answer();
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
    // The replacement is a function because `$` has a special meaning in replacement strings.
    const own = name ? texts[2].replace(texts[1], () => name) : texts[2];
    const text = more?.(details, kind, own, ofGrant === 1) ?? own;
    return new PolyflakeError(kind, text, details);
  }

  #texts(code: number, field: number, message: number): [string, string, string] {
    const text = (from: number, length: number) => decode(this.bytes.subarray(from, from + length));
    return [text(0, code), text(code, field), text(code + field, message)];
  }
}

/**
 * Returns the 16 bytes from index `at` on as an ASCII string. A single call to `fromCharCode` with 16 codes is the fastest
 * way to decode them.
 */
function decodeSixteenBytes(b: Uint8Array, at: number): string {
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

/** Returns an option's name in camel case, as is usual in JavaScript. */
function camelCase(name: string): string {
  const [first, ...others] = name.split("_");
  return first + others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** Returns a function that loads a backend on first use, for this copy of the package. */
export function loadOnDemand(load: () => Backend, nameOf?: (field: string) => string): () => Machine {
  let loaded: Machine | undefined;
  return () => (loaded ??= new Machine(load(), nameOf));
}
