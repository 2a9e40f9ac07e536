/**
 * Sends a lease's requests to its store.
 *
 * A result is a value or a promise, depending on the database client. SQLite clients are synchronous, and their results are
 * passed to the rules as plain values, not as promises. The worker ID can therefore be released while the process exits,
 * when promises are no longer resolved.
 *
 * Each request has a time limit. A frozen server still acknowledges the data that it receives, so no TCP timeout ends the
 * wait. When the time limit expires, the connection is dropped, and the answer is `silent`. The statements may still have
 * been executed, so the rules read the record again.
 */
import { PolyflakeError } from "../errors.js";
import type { Connection, Driver } from "./driver.js";
import { failureOf } from "./failure.js";
import type { Command, Value } from "./rules.js";

/** The maximum time to wait for a connection to open or close, in milliseconds. */
const OPEN_TIMEOUT_MS = 15_000;

/**
 * The connection to a store, for a lease or a check. If the store does not respond in time, the connection is dropped, so that
 * the rules can continue.
 */
export class Session {
  readonly #driver: Driver;
  readonly #keepsAlive: boolean;
  readonly #isRestored: () => boolean;
  #connection: Connection | undefined;
  /** Identifies the connection that is open or being opened. */
  #opening: object | undefined;

  /**
   * Creates a session without a connection. If `keepsAlive` is true, the process stays alive while it waits for the store. Once
   * `isRestored` returns true, a request that is in progress sends no more statements.
   */
  constructor(driver: Driver, keepsAlive: boolean, isRestored = () => false) {
    this.#driver = driver;
    this.#keepsAlive = keepsAlive;
    this.#isRestored = isRestored;
  }

  /**
   * Runs a command on the store and returns the result, or a promise of it. The call is synchronous if the database client
   * is synchronous, so that a worker ID can be released even while the process exits.
   */
  answer(command: Command): unknown {
    if (command.do === "open") return this.#open();
    if (command.do === "close") return this.#disconnect();
    if (command.do !== "run") return null;
    const connection = this.#connection!;
    // After a restore, another copy of the process continues the same request. This copy therefore drops its connection,
    // which ends its transaction.
    const stopped = () => this.#isRestored() && (this.#lose(), { silent: true });
    return this.#within(runStatements(connection, command.statements, stopped), command.within_ms, () => this.#lose());
  }

  #open(): unknown {
    const opening = {};
    this.#opening = opening;
    const opened = (connection: Connection) => {
      // The connection was opened too late, so the rules no longer wait for it.
      if (this.#opening !== opening) return closeConnection(connection, true);
      this.#connection = connection;
      return { opened: connection.name };
    };
    // An error from the rules is passed back to them unchanged.
    const failed = (error: unknown) =>
      error instanceof PolyflakeError
        ? { rejected: { code: error.code, message: error.message } }
        : { failure: failureOf(error) };
    try {
      const connection = this.#driver.open();
      if (!(connection instanceof Promise)) return opened(connection);
      return this.#within(connection.then(opened, failed), OPEN_TIMEOUT_MS, () => this.#lose());
    } catch (error) {
      return failed(error);
    }
  }

  #disconnect(): unknown {
    const connection = this.#connection;
    this.#connection = this.#opening = undefined;
    const done = connection && closeConnection(connection, false);
    if (!done) return null;
    return this.#within(done, OPEN_TIMEOUT_MS, () => closeConnection(connection, true));
  }

  #lose(): void {
    if (this.#connection) closeConnection(this.#connection, true);
    this.#connection = this.#opening = undefined;
  }

  /**
   * Returns a result, or a promise of it. If the promised result does not arrive in time, `lose` is called, and the promise
   * resolves to a timeout.
   */
  #within(done: unknown, ms: number, lose: () => void): unknown {
    if (!(done instanceof Promise)) return done;
    return new Promise((resolve) => {
      const timer = setTimeout(() => (lose(), resolve({ silent: true })), ms);
      if (!this.#keepsAlive) timer.unref();
      done.then((answer) => (clearTimeout(timer), resolve(answer)));
    });
  }
}

/**
 * Closes a connection. If the connection closes asynchronously, returns a promise that resolves to null. Errors, for
 * example from a pool's callback, are ignored, because they do not affect the lease.
 */
function closeConnection(connection: Connection, isLost: boolean): Promise<null> | undefined {
  try {
    const done = connection.close(isLost);
    if (isThenable(done)) return Promise.resolve(done).then(returnNull, returnNull);
  } catch {}
  return undefined;
}

const returnNull = (): null => null;

const isThenable = (value: unknown): boolean => typeof Object(value).then === "function";

/**
 * Runs statements in order, up to the first one that fails, and returns their results. The call is synchronous if the
 * database client is synchronous. `stopped` is called before each statement. If it returns an answer, no more statements
 * are run, and that answer is returned.
 */
function runStatements(
  connection: Connection,
  statements: [string, Value[]][],
  stopped: () => object | false,
): unknown {
  const rows: Value[][][] = [];
  const failed = (error: unknown) => ({ rows, failure: failureOf(error) });
  const from = (k: number): unknown => {
    try {
      for (let at = k; at < statements.length; at++) {
        const answer = stopped();
        if (answer) return answer;
        const found = connection.run(...statements[at]!);
        if (found instanceof Promise) return found.then((found) => (rows.push(found), from(at + 1)), failed);
        rows.push(found);
      }
      return { rows, failure: null, notices: connection.notices ?? [] };
    } catch (error) {
      return failed(error);
    }
  };
  connection.notices?.splice(0);
  return from(0);
}
