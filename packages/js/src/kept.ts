import type { GuardedClock } from "./clock.js";
import type { ErrorCode } from "./errors.js";
import { type Signal, slept } from "./later.js";
import { type CallName, type Machine, SLEEP } from "./machine.js";

/** Tells machines of what nobody holds any more; some edge runtimes have no such thing. */
const forgotten = typeof FinalizationRegistry === "function" ? /* @__PURE__ */ new FinalizationRegistry(release) : undefined;

function release({ machine, handle }: { machine: Machine; handle: number }): void {
  machine.numbers[0] = handle;
  machine.check(machine.calls.release());
}

/** Whether the turn that was just taken ended its call. */
const isDone = ({ numbers }: Machine): boolean => Number.isNaN(numbers[SLEEP]);

/** What a machine refuses with where the table that it was lent failed. */
const LENT = /* @__PURE__ */ new Set<ErrorCode>(["entropy_unavailable", "partitions_exhausted"]);

/** Something that a machine keeps for an object: a generator, a codec, a cipher, a layout. */
export class Kept {
  readonly handle: number;

  /**
   * Has it built from slots, and from what already lies in the scratch area; it goes when `owner` does.
   *
   * @throws {PolyflakeError} what the call refuses with.
   */
  constructor(
    owner: object,
    readonly machine: Machine,
    build: CallName,
    slots: readonly number[],
    readonly clock?: GuardedClock,
  ) {
    machine.numbers.set(slots);
    if (clock) machine.setClock(clock);
    machine.check(machine.calls[build]());
    this.handle = machine.numbers[0]!;
    forgotten?.register(owner, { machine, handle: this.handle });
  }

  /** Writes the handle, for a call that is made next. */
  ready(): Machine {
    this.machine.numbers[0] = this.handle;
    return this.machine;
  }

  /** Makes a call, whose other arguments lie in the scratch area; results lie there then. */
  call(name: CallName): Machine {
    const machine = this.ready();
    this.check(machine.calls[name]());
    return machine;
  }

  /**
   * Makes a call that takes turns, whose arguments lie in the scratch area, and gives what `read` finds there then. Its first turn is
   * over when this returns.
   *
   * @param made how many IDs earlier calls of a batch made, if there is a batch.
   * @throws {PolyflakeError} as {@link call}; the signal's reason.
   */
  async later<T>(name: CallName, read: (m: Machine) => T, signal?: Signal, made?: number): Promise<T> {
    const machine = this.ready();
    const isBatch = made !== undefined;
    this.check(machine.calls[name](), made, isBatch);
    if (isDone(machine)) return read(machine);
    const waiting = { machine, handle: machine.numbers[0]! };
    try {
      do {
        await slept(machine.numbers[SLEEP]!, signal);
        machine.numbers[0] = waiting.handle;
        this.check(machine.calls.turn(), made, isBatch);
      } while (!isDone(machine));
      return read(machine);
    } finally {
      release(waiting);
    }
  }

  /** Throws what the call that was just made refused with. */
  refused(): never {
    this.check(undefined);
    throw new Error("expected a refusal");
  }

  /**
   * Looks at a call's answer.
   *
   * @param made how many IDs earlier calls of a batch made.
   * @param isBatch whether errors count them that say nothing of it.
   * @throws {PolyflakeError} what it refused with, and what only this side knows of that.
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
