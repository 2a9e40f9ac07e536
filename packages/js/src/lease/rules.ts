import { type ErrorCode, type ErrorDetails, PolyflakeError } from "../errors.js";
import { countRestores, freshBytes } from "../restores.js";

/**
 * The exports of the wasm module in bindings-lease. To pass a string, the caller writes its bytes to `room` and passes its
 * length.
 */
interface Exports {
  readonly memory: WebAssembly.Memory;
  room(length: number): number;
  lease_url(length: number): number;
  name(length: number): number;
  begin(length: number): number;
  next(length: number, wallMs: number, elapsedMs: number): number;
  restored(): void;
  close(): void;
  status(wallMs: number): number;
  reason(wallMs: number): number;
}

/** The next command from the rules. See docs/leases.md, "Hosts". */
export type Command =
  | { do: "open" | "close" | "seal" }
  | { do: "end"; rejected?: Reason | null }
  | { do: "run"; statements: [text: string, values: Value[]][]; within_ms: number }
  | { do: "begin"; first: number; start: number; end: number }
  | { do: "extend"; end: number }
  | { do: "report"; event: Record<string, unknown> }
  | { do: "wait"; ms: number };

/** A value in a statement or a row. */
export type Value = number | string | null;

/** The reason why no ID is available. */
export type Reason = { code: string; message: string; until: number | null; permanent: boolean };

/** The number of random bytes for a command: eight 128-bit numbers. */
const ENTROPY_BYTES = 128;

/** The rules for one lease, evaluated by an instance of the wasm module. */
export class Rules {
  readonly #calls: Exports;
  #restores = countRestores();

  /**
   * @param compiled The `WebAssembly.Module`. It is declared as `object`, because a user's project may not include the
   * types of WebAssembly.
   */
  constructor(compiled: object) {
    this.#calls = new WebAssembly.Instance(compiled as WebAssembly.Module).exports as unknown as Exports;
  }

  /**
   * Calls a function of the wasm module. `lease_url` parses the URL of a lease, `name` determines the store name of an
   * SQLite file, and `begin` starts the lease with its settings.
   *
   * @throws {PolyflakeError} the error that the rules report, with `details` added.
   */
  ask(call: "lease_url" | "name" | "begin", value: object, details?: ErrorDetails): unknown {
    const answer = this.#read(this.#calls[call](this.#write(JSON.stringify(value)))) as {
      rejected?: { code: ErrorCode; message: string };
    } | null;
    if (answer?.rejected) throw new PolyflakeError(answer.rejected.code, answer.rejected.message, details);
    return answer;
  }

  /**
   * Returns whether a restore has been reported since the last command. If so, another copy of the process may be using the
   * same worker ID, and the next command abandons the worker ID.
   */
  get isRestored(): boolean {
    return countRestores() !== this.#restores;
  }

  /** Returns the next command, given the result of the previous command. */
  next(wallMs: number, elapsedMs: number, answer: unknown): Command {
    if (this.isRestored) {
      const count = countRestores();
      this.#calls.restored();
      this.#restores = count;
    }
    const length = this.#write(JSON.stringify(answer), freshBytes(ENTROPY_BYTES));
    return this.#read(this.#calls.next(length, wallMs, elapsedMs)) as Command;
  }

  /** Starts the release of the worker ID, which the next commands perform. */
  close(): void {
    this.#calls.close();
  }

  status(wallMs: number): Record<string, unknown> {
    return this.#read(this.#calls.status(wallMs)) as Record<string, unknown>;
  }

  reason(wallMs: number): Reason {
    return this.#read(this.#calls.reason(wallMs)) as Reason;
  }

  #write(text: string, before: Uint8Array = new Uint8Array(0)): number {
    const bytes = new TextEncoder().encode(text);
    const length = before.length + bytes.length;
    // The call to `room` may replace the memory's buffer, so read `memory.buffer` only after that call.
    const at = this.#calls.room(length);
    const room = new Uint8Array(this.#calls.memory.buffer, at, length);
    room.set(before);
    room.set(bytes, before.length);
    return length;
  }

  #read(length: number): unknown {
    const at = this.#calls.room(0);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(this.#calls.memory.buffer, at, length)));
  }
}
