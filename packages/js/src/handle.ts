import type { GuardedClock } from "./clock.js";
import type { ErrorCode } from "./errors.js";
import { type Signal, slept } from "./later.js";
import { type Leasing, unavailable } from "./leased.js";
import type { Call, Machine } from "./machine.js";
import { type CallName, objectSlots, turnSlots } from "./protocol.js";
import type { Claim } from "./twins.js";

/** Releases the backend's state of objects that were collected. Some edge runtimes lack FinalizationRegistry. */
const forgotten =
  typeof FinalizationRegistry === "function" ? /* @__PURE__ */ new FinalizationRegistry(release) : undefined;

function release({ machine, number }: { machine: Machine; number: number }): void {
  const m = machine;
  m.numbers[objectSlots.handle] = number;
  m.check(m.calls.release());
}

/** Returns whether the last turn ended its call. */
const isDone = ({ numbers }: Machine): boolean => Number.isNaN(numbers[turnSlots.sleep]!);

/** Returns the number of the object that the last call created. */
const built = ({ numbers }: Machine): number => numbers[objectSlots.handle]!;

/** The errors of a backend which mean that the table lent to it failed. */
const LENT = /* @__PURE__ */ new Set<ErrorCode>(["entropy_unavailable", "partitions_exhausted"]);

/** The errors of a generator which mean that it currently has no grant. */
const OF_A_GRANT = /* @__PURE__ */ new Set<ErrorCode>(["lease_not_started", "lease_expired", "generator_closed"]);

/** The errors that are resolved by waiting. */
const OF_A_TICK = /* @__PURE__ */ new Set<ErrorCode>(["sequence_exhausted", "clock_behind"]);

/** Returns whether this thread can sleep. The main thread of a page and most edge workers cannot. */
function canSleep(): boolean {
  try {
    // Returns at once, since the value differs.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1);
    return true;
  } catch {
    return false;
  }
}

/** The backend's state of an object: a generator, a codec, a cipher or a layout. */
export class Handle {
  number: number;
  /** The state to release once the owner is collected. */
  readonly #held: { machine: Machine; number: number };
  /** The claim of a generator whose IDs other generators could repeat. */
  claim?: Claim;
  /** The lease that provides the generator's grants. */
  lease?: Leasing;

  /**
   * Creates the state with a call, from the slots that `write` fills and from the bytes of the scratch area.
   *
   * @throws {PolyflakeError} the error of the call.
   */
  constructor(
    readonly machine: Machine,
    write: () => void,
    build: Call,
    readonly clock?: GuardedClock,
  ) {
    write();
    if (clock) machine.setClock(clock);
    machine.check(build());
    this.number = built(machine);
    this.#held = { machine, number: this.number };
  }

  /** Releases the state when `owner` is collected. */
  belongTo(owner: object): this {
    forgotten?.register(owner, this.#held);
    return this;
  }

  /** Releases its own state, and takes over the state of another handle. */
  become(other: Handle): void {
    release(this.#held);
    this.number = other.number;
    this.#held.number = other.number;
  }

  /** Writes the handle for the next call. */
  ready(): Machine {
    const m: Machine = this.machine;
    m.numbers[objectSlots.handle] = this.number;
    return this.machine;
  }

  /** Makes a call whose other arguments are in the scratch area. The results are stored there, too. */
  call(name: CallName): Machine {
    const m = this.ready();
    this.check(m.calls[name]());
    return m;
  }

  /**
   * Makes an asynchronous call, whose arguments are in the scratch area, and resolves to the value that `read` finds there when the
   * call ends. The first step runs before the promise is returned, so the caller can then reuse the scratch area.
   *
   * @param made The number of IDs that earlier calls of a batch made, if there is a batch.
   * @throws {PolyflakeError} the errors of {@link call}; the reason of an aborted signal.
   */
  async later<T>(name: CallName, read: (m: Machine) => T, signal?: Signal, made?: number): Promise<T> {
    const m = this.ready();
    const isBatch = made !== undefined;
    this.check(m.calls[name](), made, isBatch);
    if (isDone(m)) return read(m);
    const waiting = { machine: m, number: built(m) };
    const { number } = this;
    try {
      do {
        await slept(m.numbers[turnSlots.sleep]!, signal);
        if (this.lease && this.number !== number) throw unavailable(this.lease, {});
        m.numbers[objectSlots.handle] = waiting.number;
        this.check(m.calls.turn(), made, isBatch);
      } while (!isDone(m));
      return read(m);
    } finally {
      release(waiting);
    }
  }

  /** Throws the error of the last call, which makes one ID and may wait. */
  refused(): never {
    this.check(undefined, 0, false, "generateAsync");
    throw new Error("expected a refusal");
  }

  /**
   * Checks the status of a call.
   *
   * @param made The number of IDs that earlier calls of a batch made.
   * @param isBatch Whether to add `written` to errors that do not have it.
   * @param later The call to suggest if the thread cannot wait.
   * @throws {PolyflakeError} the error of the call, completed with details that only the JavaScript side knows.
   */
  check(status: number | undefined, made = 0, isBatch = false, later?: string): void {
    if (status === 0) this.machine.check(0);
    else
      this.machine.check(status, (error, code, message) => {
        if (this.machine.lent && LENT.has(code)) this.machine.lent.rethrow();
        if (isBatch || Object.hasOwn(error, "written")) error.written = (error.written ?? 0) + made;
        if (this.lease && OF_A_GRANT.has(code)) throw unavailable(this.lease, error);
        if (later && OF_A_TICK.has(code) && !canSleep()) {
          // The core says so too if the wait is long, but does not know the name of the call.
          const waits = `await ${later}, which waits`;
          const named = message.replace("await the asynchronous call", waits);
          return named === message ? `${message}; this thread cannot sleep: ${waits}` : named;
        }
        return this.clock?.explain(error, code);
      });
  }
}
