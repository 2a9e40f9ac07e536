import { type ErrorCode, PolyflakeError } from "../errors.js";
import type { Grantee } from "../leased.js";
import type { LeaseEvent, LeaseStatus } from "./lease.js";
import type { Command, Reason, Rules } from "./rules.js";

/** The part of a lease that is the same in all runtimes: its grant, and the generator that uses the grant. */
export class LeaseCore {
  readonly rules: Rules;
  readonly #watch: ((event: LeaseEvent) => void) | undefined;
  grantee: Grantee | undefined;
  #grant: { first: number; start: number; end: number } | undefined;

  constructor(rules: Rules, watch: ((event: LeaseEvent) => void) | undefined) {
    this.rules = rules;
    this.#watch = watch;
  }

  now(): number {
    return this.grantee?.now() ?? Date.now();
  }

  /** Returns the worker ID whose grant has started but not yet ended, or undefined if there is no such grant. */
  workerId(): number | undefined {
    const now = this.now();
    // Another thread may report a restore at any time, so read `isRestored` last.
    const isCurrent = this.#grant && this.#grant.start <= now && now < this.#grant.end && !this.rules.isRestored;
    return isCurrent ? this.#grant!.first : undefined;
  }

  /** Returns the lease's status. `hasBegun` is whether the lease has started. */
  status(hasBegun: boolean): LeaseStatus {
    if (hasBegun) return toCamelCase(this.rules.status(this.now())) as unknown as LeaseStatus;
    return { workerId: null, end: null, remainingMs: 0, grants: 0, renewals: 0, failures: 0, gaps: 0, rejected: null };
  }

  /** Returns the next command, given the result of the previous command and the time of a monotonic clock. */
  next(answer: unknown, elapsedMs: number): Command {
    // Seal the generator before the rules close the store. Neither `ready` nor a new generator may use the abandoned
    // grant in the meantime.
    if (this.rules.isRestored) this.#seal();
    return this.rules.next(this.now(), elapsedMs, answer);
  }

  /**
   * Executes a command that concerns the generator or reports an event, and returns the result. Passes any other command to
   * `other`.
   */
  answer(command: Command, other: (command: Command) => unknown): unknown {
    switch (command.do) {
      case "begin":
        return this.#begin(command);
      case "extend":
        return this.#extend(command.end);
      case "seal":
        return this.#seal();
      case "report":
        this.#report(command.event);
        return null;
      default:
        return other(command);
    }
  }

  #begin({ first, start, end }: { first: number; start: number; end: number }): unknown {
    this.#grant = { first, start, end };
    try {
      this.pass();
      return null;
    } catch (error) {
      this.#grant = undefined;
      return { not_begun: String((error as Error).message) };
    }
  }

  /**
   * Passes the lease's grant, if any, to the generator. If the process has been restored since the grant was issued, the
   * grant ends immediately.
   */
  pass(): void {
    if (!this.#grant) return;
    const { first, start, end } = this.#grant;
    this.grantee?.begin(first, start, end);
    // Check the restore count last, because another thread may report a restore at any time.
    if (this.rules.isRestored) this.grantee?.seal();
  }

  #extend(end: number): null {
    try {
      this.grantee?.extend(end);
      if (this.#grant) this.#grant.end = end;
    } catch {
      // If the extension fails, the generator and the grant keep their previous end.
    }
    return null;
  }

  #seal(): unknown {
    this.#grant = undefined;
    try {
      return { used_until: this.grantee?.seal() ?? null };
    } catch {
      return { used_until: Number.MAX_SAFE_INTEGER };
    }
  }

  #report(event: Record<string, unknown>): void {
    try {
      this.#watch?.(toCamelCase(event) as unknown as LeaseEvent);
    } catch (error) {
      // Report an error from the callback like any uncaught error. Throwing it from here would end the lease.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

/** Returns an object of the rules with its names in camel case, such as `workerId` for `worker_id`. */
function toCamelCase(object: Record<string, unknown>): Record<string, unknown> {
  const renamed = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [renamed(name), value]));
}

/** Creates the error for a reason that the lease rules reported. */
export function toLeaseError({ code, message, until }: Reason): PolyflakeError {
  return new PolyflakeError(code as ErrorCode, message, until === null ? {} : { retryAt: until });
}

/** Creates the error for a lease that already has a generator, or is closed. */
export function mismatchError(found: string): PolyflakeError {
  return new PolyflakeError("lease_mismatch", `expected a lease of its own for each generator, found ${found}`);
}

/** Creates the error for a lease that has no generator. Without a generator, the ID format of the lease is unknown. */
export function missingGeneratorError(): PolyflakeError {
  const reason = "expected a generator with this lease, as in new sno.Generator({ lease }), found none";
  return new PolyflakeError("lease_mismatch", reason);
}
