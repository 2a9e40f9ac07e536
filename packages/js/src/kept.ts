import type { GuardedClock } from "./clock.js";
import type { ErrorCode } from "./errors.js";
import type { CallName, Machine } from "./machine.js";

/** Tells machines of what nobody holds any more; some edge runtimes have no such thing. */
const forgotten = typeof FinalizationRegistry === "function" ? /* @__PURE__ */ new FinalizationRegistry(release) : undefined;

function release({ machine, handle }: { machine: Machine; handle: number }): void {
  machine.numbers[0] = handle;
  machine.check(machine.calls.release());
}

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

  /** Throws what the call that was just made refused with. */
  refused(): never {
    this.check(undefined);
    throw new Error("expected a refusal");
  }

  /**
   * Looks at a call's answer.
   *
   * @param made how many IDs earlier calls of a batch made.
   * @throws {PolyflakeError} what it refused with, and what only this side knows of that.
   */
  check(status: number | undefined, made = 0): void {
    if (status === 0) this.machine.check(0);
    else
      this.machine.check(status, (error, code) => {
        if (this.machine.lent && LENT.has(code)) this.machine.lent.rethrow();
        if (Object.hasOwn(error, "written")) error.written! += made;
        return this.clock?.explain(error, code);
      });
  }
}
