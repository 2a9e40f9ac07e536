import type { GuardedClock } from "./clock.js";
import type { ErrorCode } from "./errors.js";
import { type Signal, slept } from "./later.js";
import type { Machine } from "./machine.js";
import { type CallName, fixedSlots, objectSlots } from "./protocol.js";
import type { Floats } from "./slots.js";

/** Releases what a machine keeps for objects that were collected; some edge runtimes lack FinalizationRegistry. */
const forgotten =
  typeof FinalizationRegistry === "function" ? /* @__PURE__ */ new FinalizationRegistry(release) : undefined;

function release({ machine, number }: { machine: Machine; number: number }): void {
  machine.numbers[objectSlots.handle] = number;
  machine.check(machine.calls.release());
}

/** Returns whether the last turn ended its call. */
const isDone = ({ numbers }: Machine): boolean => Number.isNaN(numbers[fixedSlots.sleep]);

/** Errors of a machine that mean that its lent table failed. */
const LENT = /* @__PURE__ */ new Set<ErrorCode>(["entropy_unavailable", "partitions_exhausted"]);

/** Something that a machine keeps for an object: a generator, a codec, a cipher, a layout. */
export class Handle {
  readonly number: number;

  /**
   * Builds it from the slots that `write` writes, and from the bytes of the scratch area. It is released when `owner` is collected.
   *
   * @throws {PolyflakeError} the error of the call.
   */
  constructor(
    owner: object,
    readonly machine: Machine,
    build: CallName,
    write: (numbers: Floats) => void,
    readonly clock?: GuardedClock,
  ) {
    write(machine.numbers);
    if (clock) machine.setClock(clock);
    machine.check(machine.calls[build]());
    this.number = machine.numbers[objectSlots.handle]!;
    forgotten?.register(owner, { machine, number: this.number });
  }

  /** Writes the handle, for the next call. */
  ready(): Machine {
    this.machine.numbers[objectSlots.handle] = this.number;
    return this.machine;
  }

  /** Makes a call, whose other arguments lie in the scratch area; so do its results afterwards. */
  call(name: CallName): Machine {
    const machine = this.ready();
    this.check(machine.calls[name]());
    return machine;
  }

  /**
   * Makes a call that takes turns, whose arguments lie in the scratch area, and resolves to the value that `read` finds there at
   * its end. The first turn is over when this returns.
   *
   * @param made number of IDs that earlier calls of a batch made, if there is a batch.
   * @throws {PolyflakeError} as {@link call}; the reason of an aborted signal.
   */
  async later<T>(name: CallName, read: (m: Machine) => T, signal?: Signal, made?: number): Promise<T> {
    const machine = this.ready();
    const isBatch = made !== undefined;
    this.check(machine.calls[name](), made, isBatch);
    if (isDone(machine)) return read(machine);
    const waiting = { machine, number: machine.numbers[objectSlots.handle]! };
    try {
      do {
        await slept(machine.numbers[fixedSlots.sleep]!, signal);
        machine.numbers[objectSlots.handle] = waiting.number;
        this.check(machine.calls.turn(), made, isBatch);
      } while (!isDone(machine));
      return read(machine);
    } finally {
      release(waiting);
    }
  }

  /** Throws the error of the last call. */
  refused(): never {
    this.check(undefined);
    throw new Error("expected a refusal");
  }

  /**
   * Checks the status of a call.
   *
   * @param made number of IDs that earlier calls of a batch made.
   * @param isBatch adds `written` also to errors that have none.
   * @throws {PolyflakeError} the call's error, completed with details that only this side knows.
   */
  check(status: number | undefined, made = 0, isBatch = false): void {
    if (status === 0) this.machine.check(0);
    else
      this.machine.check(status, (error, code) => {
        if (this.machine.lent && LENT.has(code)) this.machine.lent.rethrow();
        if (isBatch || Object.hasOwn(error, "written")) error.written = (error.written ?? 0) + made;
        return this.clock?.explain(error, code);
      });
  }
}
