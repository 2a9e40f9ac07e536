/**
 * A lease in a Worker, whose code runs only during requests. A runtime with threads or an event loop renews its lease in
 * the background. In a Worker, the first request that finds the renewal due performs the renewal. If that request is
 * aborted in the meantime, the store's reply is lost, and the rules handle this like any other lost reply.
 */
import { checkString } from "../checks.js";
import { PolyflakeError } from "../errors.js";
import type { AnyLease, AttachedLease, Grantee } from "../leased.js";
import type { Driver } from "./driver.js";
import { LeaseCore, mismatchError, missingGeneratorError, toLeaseError } from "./holding.js";
import type { LeaseOptions, LeaseStatus } from "./lease.js";
import type { Command, Reason, Rules } from "./rules.js";
import { Session } from "./session.js";

/** The time, in milliseconds, after which another request may take over from a request that is still performing a command. */
const TURN_TIMEOUT_MS = 3000;

/** The time between two checks in {@link WorkerLease.ready}, in milliseconds. */
const POLL_MS = 5;

const LEASE_KEY = Symbol.for("polyflake.lease");

/** The part of a request's context that allows work to continue after the response has been sent. */
export interface Context {
  /** Keeps the Worker alive until the promise has settled. */
  waitUntil(work: Promise<unknown>): void;
}

/**
 * A lease on a worker ID in a Worker. As long as it is renewed, no other generator in the namespace has the same worker ID. Use
 * a lease for only one generator, and call {@link WorkerLease.ready} in each request.
 */
export class WorkerLease implements AnyLease {
  readonly #rules: Rules;
  readonly #driver: Driver;
  readonly #settings: object;
  readonly #holding: LeaseCore;
  #session: Session;
  /** The maximum time that calls wait for a worker ID, in milliseconds. It is set when the lease starts. */
  #longest: number | undefined;
  /** The result of the last command, until the rules have received it. */
  #answer: unknown = null;
  /** The time at which a request began to perform the current command. */
  #turn: { since: number } | undefined;
  /** The time at which the next command is due, in Unix milliseconds. */
  #dueAt = 0;
  #isClosing = false;
  #isOver = false;

  /** Called by `lease` of `polyflake/lease/cloudflare`. */
  constructor(rules: Rules, driver: Driver, namespace: string, options: LeaseOptions, terms: object) {
    const { workerIds, leaseMs, renewMs, waitMs, holder = "Worker", watch } = options;
    const own = { worker_ids: workerIds, lease_ms: leaseMs, renew_ms: renewMs, wait_ms: waitMs };
    const given = Object.entries(own).filter(([, value]) => value !== undefined);
    this.#settings = {
      ...terms,
      ...Object.fromEntries(given),
      namespace,
      store: "http",
      holder: checkString(holder, "holder"),
    };
    this.#rules = rules;
    this.#driver = driver;
    this.#session = this.#newSession();
    this.#holding = new LeaseCore(rules, watch);
  }

  /**
   * Resolves to the worker ID once it is leased, and renews the lease if a renewal is due. If the request's context is
   * passed, the renewal continues after the response has been sent. Otherwise, the call waits for the renewal.
   *
   * @throws {PolyflakeError} `lease_unavailable` if no worker ID is leased within `waitMs`, with the reason and, if known,
   * `retryAt`; `generator_closed` after {@link WorkerLease.close}; `lease_mismatch` if the lease has no generator.
   */
  async ready(context?: Context): Promise<number> {
    if (this.#longest === undefined) throw missingGeneratorError();
    for (const began = Date.now(); ; ) {
      if (this.#isClosing) throw new PolyflakeError("generator_closed", "generator is closed");
      const advanced = this.#advance();
      if (context && this.#holding.workerId() !== undefined) context.waitUntil(advanced);
      else await advanced;
      const workerId = this.#holding.workerId();
      if (workerId !== undefined) return workerId;
      const reason = this.#reason();
      const isOver = reason.permanent || Date.now() - began >= this.#longest;
      if (isOver) throw toLeaseError({ ...reason, code: "lease_unavailable" });
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** Closes the generator immediately and releases the worker ID. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#holding.grantee?.close();
    if (this.#longest === undefined) return;
    this.#rules.close();
    this.#dueAt = 0;
    while (!this.#isOver) {
      await this.#advance();
      if (!this.#isOver) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** Returns the lease's current status. */
  status(): LeaseStatus {
    return this.#holding.status(this.#longest !== undefined);
  }

  /** Prepares the lease for a generator's ID format. Only generators call this method. */
  [LEASE_KEY](grantee: Grantee): AttachedLease {
    if (this.#holding.grantee || this.#isClosing) throw mismatchError(this.#isClosing ? "a closed one" : "one in use");
    this.#longest = this.#rules.ask("begin", { ...this.#settings, ...grantee.settings }) as number;
    this.#holding.grantee = grantee;
    return {
      granted: false,
      closed: false,
      longest: this.#longest,
      attached: () => this.#holding.pass(),
      reason: () => {
        // Each call that waits for a worker ID advances the lease here. Between such calls, nothing else executes the
        // lease's commands.
        void this.#advance();
        const { message, until, permanent } = this.#reason();
        const advice = "; await lease.ready() first in each request";
        return { message: message + advice, until: until ?? undefined, permanent: permanent || this.#isClosing };
      },
    };
  }

  #newSession(): Session {
    return new Session(this.#driver, true, () => this.#rules.isRestored);
  }

  #reason(): Reason {
    return this.#rules.reason(this.#holding.now());
  }

  /** Performs the commands that are due, unless another request is already performing them. The promise is never rejected. */
  async #advance(): Promise<void> {
    if (this.#isOver || (Date.now() < this.#dueAt && !this.#rules.isRestored)) return;
    if (this.#turn && Date.now() - this.#turn.since < TURN_TIMEOUT_MS) return;
    if (this.#turn) {
      // The earlier request has ended or is slow. If its reply still arrives, the reply is ignored.
      this.#answer = { silent: true };
      this.#session = this.#newSession();
    }
    const turn = { since: Date.now() };
    this.#turn = turn;
    try {
      while (this.#turn === turn && this.#begins()) {
        turn.since = Date.now();
        const command = this.#holding.next(this.#answer, Date.now());
        this.#answer = null;
        const answer = await this.#holding.answer(command, (other) => this.#perform(other));
        if (this.#turn === turn) this.#answer = answer;
      }
    } catch {
      // A Worker cannot obtain random numbers outside a request, so postpone the commands until the first request.
    }
    if (this.#turn === turn) this.#turn = undefined;
  }

  #begins(): boolean {
    return !this.#isOver && (Date.now() >= this.#dueAt || this.#rules.isRestored);
  }

  #perform(command: Command): unknown {
    if (command.do === "wait") this.#dueAt = Date.now() + command.ms;
    else if (command.do === "end") this.#isOver = true;
    else return this.#session.answer(command);
    return null;
  }
}
