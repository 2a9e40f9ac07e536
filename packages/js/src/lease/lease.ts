/**
 * Maintains a lease. A loop requests a command from the rules, executes the command, and passes the result to the rules
 * with the next request.
 *
 * The rules are a state machine in a wasm module without a clock, random bytes or I/O, so the code in this file provides
 * them. It makes no decisions about worker IDs, so that a lease behaves the same in every language.
 *
 * - **Start.** A lease starts with its generator. In Python it starts with the first ID, but a synchronous call in
 *   JavaScript cannot wait: the store's reply is handled only after the call has returned.
 * - **While it runs.** A lease's timers do not keep the process alive. The timers of calls that wait for a worker ID do.
 * - **End.** On `beforeExit`, the worker ID is released in the same way as by `close`. At `process.exit`, no asynchronous
 *   work is possible. A lease in SQLite is still released, because SQLite clients are synchronous. Any other lease simply
 *   expires.
 */
import { hostname } from "node:os";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { threadId } from "node:worker_threads";
import { checkInteger, checkString } from "../checks.js";
import { invalidType, PolyflakeError } from "../errors.js";
import { type AnyLease, type AttachedLease, type Grantee, removeDefaultGenerators } from "../leased.js";
import { checkPair, members } from "../members.js";
import { type Driver, readVariable } from "./driver.js";
import { LeaseCore, mismatchError, missingGeneratorError, toLeaseError } from "./holding.js";
import type { Command, Reason, Rules } from "./rules.js";
import { Session } from "./session.js";
import type { DatabaseClass } from "./sqlite.js";

/** Options for a lease. */
export interface LeaseOptions {
  /** A worker ID to lease if it is free, such as the previous worker ID or the ordinal of a replica. */
  preferredWorkerId?: number;
  /** The only worker ID to accept. The lease waits until this worker ID is free. */
  requiredWorkerId?: number;
  /**
   * The PostgreSQL schema that contains the tables, if the store is a pool or a function; `polyflake` by default. In a URL, use
   * `?schema=`.
   */
  schema?: string;
  /**
   * The first and the last worker ID in the namespace. By default, the namespace has all of the ID format's worker IDs. All
   * processes in a namespace must pass the same range.
   */
  workerIds?: readonly [first: number, last: number];
  /** The length of the lease in milliseconds. The default is one hour, or one minute with `requiredWorkerId` or `POLYFLAKE_WORKER_ID`. */
  leaseMs?: number;
  /**
   * The time between renewals in milliseconds, at least 1000. The default, which is also the maximum, is a quarter of the
   * length of the lease.
   */
  renewMs?: number;
  /**
   * Whether to withhold IDs after the process has been restored from an image of its memory, until the store has
   * distinguished this copy of the process from other copies. IDs are withheld for up to a second. A request that the store
   * does not answer extends this time by up to 15 seconds. IDs are also withheld while the program blocks the event loop
   * for more than two seconds.
   */
  strict?: boolean;
  /**
   * A descriptive name for the holder; by default, the value of `POLYFLAKE_HOLDER`, or the host name, the process ID and the
   * thread ID.
   */
  holder?: string;
  /**
   * The maximum time that {@link Lease.ready} and other calls wait for a worker ID, in milliseconds. The default is 10,000,
   * or 70,000 with `requiredWorkerId` or `POLYFLAKE_WORKER_ID`.
   */
  waitMs?: number;
  /** A callback that receives each event. */
  watch?: (event: LeaseEvent) => void;
  /**
   * The signals on which the lease releases the worker ID and then terminates the process, such as `["SIGTERM"]`. If the
   * program itself listens for a signal, the lease ignores that signal, so that the program can still generate IDs for its
   * last requests. Such a program calls `close` when it is done.
   */
  signals?: readonly string[];
  /** The better-sqlite3 class, to be used instead of node:sqlite. */
  sqlite?: DatabaseClass;
}

/**
 * An event that a lease reports. Times are in Unix milliseconds. See docs/operate-leases.md.
 *
 * - `acquired`: a worker ID was leased, for the first time or after an interruption.
 * - `renewed`: the store acknowledged a later end for the grant.
 * - `switched`: a new grant replaced the previous grant before its end.
 * - `gap`: the wall clock moved by more than a second relative to the monotonic clock.
 * - `unconfirmed`: the store did not acknowledge a write within a second after a gap, and the generator continues.
 * - `rejected`: a request was rejected or failed, for a different reason than the last one.
 * - `expired`: the grant ended without a renewal, so the generator creates no more IDs.
 * - `sealed`: the generator was closed, before its worker ID is released.
 */
export interface LeaseEvent {
  /** What happened. docs/operate-leases.md describes each name. */
  name: "acquired" | "renewed" | "switched" | "gap" | "unconfirmed" | "rejected" | "expired" | "sealed";
  /** A description of the event. */
  text: string;
  /** The worker ID, in all events except `rejected`. */
  workerId?: number;
  /** The previous worker ID, in `switched` events. */
  previousWorkerId?: number;
  /** The start of the grant, in `acquired` and `switched` events. */
  start?: number;
  /** The end of the grant, in `acquired`, `renewed`, `switched` and `expired` events. */
  end?: number;
  /** How far the wall clock moved relative to the monotonic clock, in `gap` events. */
  milliseconds?: number;
  /** The end of the last tick used, or null if no tick was used, in `sealed` events. */
  usedUntil?: number | null;
  /** The error code, in `rejected` events. */
  code?: string;
  /** The reason, which names the store without its password, in `rejected` events. */
  message?: string;
  /** The time at which the condition that caused the error ends, or null if it is not known, in `rejected` events. */
  until?: number | null;
  /** Whether the error persists until someone changes the configuration or the store, in `rejected` events. */
  permanent?: boolean;
}

/** The status of a lease. Times are in Unix milliseconds. */
export interface LeaseStatus {
  /** The leased worker ID, or null if there is no lease or the lease has ended. */
  workerId: number | null;
  /** The end of the grant, or null if there is no lease or the lease has ended. */
  end: number | null;
  /** The time until the end of the grant in milliseconds, or 0 if there is no grant. */
  remainingMs: number;
  /** The number of grants so far. */
  grants: number;
  /** The number of acknowledged renewals so far. */
  renewals: number;
  /** The number of rejected or failed requests so far. */
  failures: number;
  /** The number of times that the wall clock moved by more than a second relative to the monotonic clock. */
  gaps: number;
  /**
   * The latest rejection since the last grant or renewal, or null if no request was rejected. The members are those of a
   * `rejected` event.
   */
  rejected: { code: string; message: string; until: number | null; permanent: boolean } | null;
}

const OPTIONS = [
  "preferredWorkerId",
  "requiredWorkerId",
  "schema",
  "workerIds",
  "leaseMs",
  "renewMs",
  "strict",
  "holder",
  "waitMs",
  "watch",
  "signals",
  "sqlite",
] as const;

/** Checks the options of a lease and returns them. */
export function checkLeaseOptions(options: unknown): LeaseOptions {
  const given = members(options, "options", OPTIONS);
  const { holder, workerIds, signals = [], strict, watch } = given;
  for (const name of ["preferredWorkerId", "requiredWorkerId", "leaseMs", "renewMs", "waitMs"] as const)
    if (given[name] !== undefined) checkInteger(given[name], name);
  if (holder !== undefined) checkString(holder, "holder");
  if (workerIds !== undefined) checkPair(workerIds, "workerIds", "integers");
  if (watch !== undefined && typeof watch !== "function") throw invalidType("function", watch, { field: "watch" });
  if (strict !== undefined && typeof strict !== "boolean") throw invalidType("boolean", strict, { field: "strict" });
  if (!Array.isArray(signals)) throw invalidType("list of signals", signals, { field: "signals" });
  return given as LeaseOptions;
}

/** The time between two checks in {@link Lease.ready}, in milliseconds. */
const POLL_MS = 5;
/** The maximum time to wait for a worker ID to be released, in milliseconds. */
const CLOSE_TIMEOUT_MS = 10_000;
/** The same for a lease that never had a worker ID, which has nothing to release unless a claim is in transit. */
const UNLEASED_CLOSE_TIMEOUT_MS = 1_000;

/** All leases on this thread that hold a worker ID or wait for one. */
const openLeases = new Set<Lease>();
let isExitHooked = false;

export const LEASE_KEY = Symbol.for("polyflake.lease");

/** Returns whether {@link Lease.close} has been called. */
export let isClosing: (lease: Lease) => boolean;

const PENDING_HINT =
  "; generate() cannot wait for it: await lease.ready() first, use generateAsync, or start with node --import polyflake/lease";
/** The counterpart of `PENDING_HINT` for the default generators, whose leases start when the process starts. */
const PRELOAD_HINT = "; generate() cannot wait for it: await ready() of polyflake/lease first, or use generateAsync";

/**
 * A lease on a worker ID. As long as it is renewed, no other generator in the namespace has the same worker ID. Use a lease for
 * only one generator.
 *
 * ```js
 * const lease = polyflake.lease("sqlite:ids.db", "orders");
 * const ids = new sno.Generator({ lease });
 * await lease.ready();
 * ```
 */
export class Lease implements AnyLease {
  readonly #rules: Rules;
  readonly #holding: LeaseCore;
  readonly #session: Session;
  readonly #settings: Readonly<Record<string, unknown>>;
  readonly #options: LeaseOptions;
  /** The maximum time that calls wait for a worker ID, in milliseconds. It is set when the lease starts. */
  #longest = 0;
  #family: string | undefined;
  /** Wakes the loop if it is waiting. */
  #wake: (() => void) | undefined;
  #loop: Promise<void> | undefined;
  #isClosing = false;
  #isDefault = false;

  static {
    isClosing = (lease) => lease.#isClosing;
  }

  /** Called by `lease`. */
  constructor(
    rules: Rules,
    driver: Driver,
    namespace: string,
    options: LeaseOptions,
    terms: Readonly<Record<string, unknown>> = {},
  ) {
    this.#rules = rules;
    this.#holding = new LeaseCore(rules, options.watch);
    this.#session = new Session(driver, false, () => rules.isRestored);
    this.#options = options;
    this.#settings = buildSettings(driver, namespace, options, terms);
  }

  /**
   * Resolves to the worker ID once it is leased and its grant has started. Create the generator first, because it determines
   * the ID format.
   *
   * @throws {PolyflakeError} `lease_unavailable` if no worker ID is leased within `waitMs`, with the reason and, if known,
   * `retryAt`; `generator_closed` after {@link Lease.close}; `lease_mismatch` if the lease has no generator.
   */
  async ready(): Promise<number> {
    if (!this.#loop) throw missingGeneratorError();
    for (const began = performance.now(); ; ) {
      if (this.#isClosing) throw new PolyflakeError("generator_closed", "generator is closed");
      const workerId = this.#holding.workerId();
      if (workerId !== undefined) return workerId;
      const reason = this.#reason();
      const isOver = reason.permanent || performance.now() - began >= this.#longest;
      if (isOver) throw toLeaseError({ ...reason, code: "lease_unavailable" });
      // This timer keeps the process alive, because the lease alone does not.
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /**
   * Closes the generator immediately and releases the worker ID. Calls to the generator then throw `generator_closed`. The
   * promise resolves when the worker ID is released, or after 10 seconds.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#holding.grantee?.close();
    removeDefaultGenerators(this);
    if (!this.#loop) return;
    this.#rules.close();
    this.#wake?.();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const milliseconds = this.status().grants > 0 ? CLOSE_TIMEOUT_MS : UNLEASED_CLOSE_TIMEOUT_MS;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
    await Promise.race([this.#loop, timeout]);
    clearTimeout(timer);
    openLeases.delete(this);
  }

  /** Returns the lease's current status. */
  status(): LeaseStatus {
    return this.#holding.status(this.#loop !== undefined);
  }

  /** Starts the lease for a generator's ID format. Only generators call this method. */
  [LEASE_KEY](grantee: Grantee): AttachedLease {
    const { family } = grantee.settings;
    if (this.#holding.grantee || this.#isClosing || (this.#family !== undefined && this.#family !== family)) {
      throw mismatchError(this.#isClosing ? "a closed one" : "one in use");
    }
    if (!this.#loop) this.begin(grantee.settings);
    this.#holding.grantee = grantee;
    return {
      granted: false,
      closed: false,
      longest: this.#longest,
      attached: () => this.#holding.pass(),
      reason: () => {
        const { message, until, permanent } = this.#reason();
        const advice = this.#isBeginning() ? (this.#isDefault ? PRELOAD_HINT : PENDING_HINT) : "";
        return { message: message + advice, until: until ?? undefined, permanent: permanent || this.#isClosing };
      },
    };
  }

  /** Starts the lease, even if it has no generator yet. `isDefault` is true if the lease is for a default generator. */
  begin(settings: { family?: string | undefined }, isDefault = false): void {
    this.#isDefault = isDefault;
    this.#longest = this.#rules.ask("begin", { ...this.#settings, ...settings }) as number;
    this.#family = settings.family;
    openLeases.add(this);
    handleSignals(this.#options.signals ?? []);
    // The loop throws only if the rules have a bug. In that case, simply let the grant expire.
    this.#loop = this.#keep().finally(() => openLeases.delete(this));
    this.#loop.catch((error) =>
      process.emitWarning(String(error), { type: "PolyflakeWarning", code: "polyflake_lease" }),
    );
  }

  /**
   * Releases the worker ID just before the process ends, when asynchronous work is no longer possible. Only SQLite supports
   * this.
   */
  closeNow(): void {
    if (!this.#wake) return;
    this.#rules.close();
    for (let answer: unknown = null; !(answer instanceof Promise); ) {
      const command = this.#holding.next(answer, performance.now());
      if (command.do === "end" || command.do === "wait") return;
      answer = this.#answer(command);
    }
  }

  /** Returns whether the lease is still waiting for its first grant or rejection. */
  #isBeginning(): boolean {
    const { grants, rejected } = this.status();
    return !this.#isClosing && grants === 0 && rejected === null;
  }

  /**
   * Returns the reason why no ID is available. After a restore, the reason is that the lease was abandoned. In that case,
   * this method also wakes the loop, which then leases another worker ID.
   */
  #reason(): Reason {
    if (this.#rules.isRestored) this.#wake?.();
    return this.#rules.reason(this.#holding.now());
  }

  async #keep(): Promise<void> {
    for (let answer: unknown = null; ; ) {
      const command = this.#holding.next(answer, performance.now());
      if (command.do === "end") return;
      answer = await this.#answer(command);
    }
  }

  /** Runs a command and returns its result, or a promise of the result. */
  #answer(command: Command): unknown {
    return this.#holding.answer(command, (other) =>
      other.do === "wait" ? this.#pause(other.ms) : this.#session.answer(other),
    );
  }

  #pause(ms: number): Promise<null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake?.(), ms);
      // A lease alone must not keep the process alive. When nothing else keeps it alive, `beforeExit` releases the
      // worker ID.
      timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve(null);
      };
    });
  }
}

/** Returns a lease's settings for the rules. The options take precedence over the settings in the URL. */
export function buildSettings(
  driver: Driver,
  namespace: string,
  { preferredWorkerId, requiredWorkerId, schema, workerIds, leaseMs, renewMs, strict, waitMs, holder }: LeaseOptions,
  terms: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const own = {
    schema,
    preferred_worker_id: preferredWorkerId,
    required_worker_id: requiredWorkerId,
    worker_ids: workerIds,
    lease_ms: leaseMs,
    renew_ms: renewMs,
    strict,
    wait_ms: waitMs,
  };
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  const name = holder ?? readVariable("POLYFLAKE_HOLDER") ?? `${hostPrefix()}${process.pid}/${threadId}`;
  return { ...terms, ...Object.fromEntries(given), namespace, store: driver.store, holder: name };
}

/** Returns the host name followed by a space, or an empty string if Deno does not permit the program to read it. */
function hostPrefix(): string {
  try {
    return `${hostname()} `;
  } catch {
    return "";
  }
}

/**
 * Checks whether a lease could be acquired. The check is meant for deployment scripts, and neither leases a worker ID nor
 * writes to the store.
 *
 * @throws {PolyflakeError} immediately, with the reason, if no lease could be acquired.
 */
export async function runCheck(
  rules: Rules,
  driver: Driver,
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  rules.ask("begin", { ...settings, check: true });
  if (driver.checkFile?.() === false) return;
  // The process must stay alive until the result arrives.
  const session = new Session(driver, true);
  for (let answer: unknown = null; ; ) {
    const command = rules.next(Date.now(), performance.now(), answer);
    if (command.do !== "end") answer = await session.answer(command);
    else if (command.rejected) throw toLeaseError(command.rejected);
    else return;
  }
}

/** Releases the worker IDs of all leases on this thread. */
export async function close(): Promise<void> {
  await Promise.all([...openLeases].map((lease) => lease.close()));
}

/**
 * Registers listeners that release worker IDs when the process exits, normally or through `process.exit`, and when it
 * receives one of the given signals.
 */
function handleSignals(signals: readonly string[]): void {
  if (!isExitHooked) {
    process.on("beforeExit", () => openLeases.size > 0 && close());
    process.on("exit", () => {
      for (const lease of openLeases) lease.closeNow();
    });
  }
  isExitHooked = true;
  for (const signal of signals) {
    if (handledSignals.has(signal)) continue;
    handledSignals.add(signal);
    // This listener must run before the program's own listeners. A one-time listener is removed when it is called, so
    // it would no longer be counted below.
    process.prependOnceListener(signal, async () => {
      handledSignals.delete(signal);
      // A program that handles the signal itself may still generate IDs for its last requests before it exits.
      if (process.listenerCount(signal) > 0) return;
      await close();
      process.kill(process.pid, signal as NodeJS.Signals);
    });
  }
}

const handledSignals = new Set<string>();
