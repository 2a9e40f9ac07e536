/**
 * A store of leases in a Durable Object. It answers the requests that `polyflake lease serve` answers, over `fetch`.
 *
 * The object is a single thread, and answers each request in one transaction. The platform holds back each response until
 * all earlier writes are durable. The store's name contains an identifier that is generated when the store is created, and
 * never changes. Because the identifier also remains the same if the storage is recovered to an earlier point in time, an
 * operator must report the recovery with the variable `POLYFLAKE_RESTORED`.
 */
import { type LeaseRecord, type Namespace, type Operation, parse, permits, sortKeys, Violation } from "./requests.js";

/** The part of an object's state that the store uses. */
export interface ObjectState {
  /** The object's SQLite database. */
  readonly storage: {
    readonly sql: {
      exec(text: string, ...values: (string | number)[]): { toArray(): { [column: string]: unknown }[] };
    };
    transactionSync<T>(call: () => T): T;
  };
}

/**
 * The instance type of the class called `Name` in the runtime's types, or `Part` if the project does not include the
 * runtime's types.
 */
type DeclaredGlobal<Name extends string, Part> = typeof globalThis extends {
  [name in Name]: { prototype: infer Class };
}
  ? Class
  : Part;

/** The runtime's `Request` type. */
export type HttpRequest = DeclaredGlobal<
  "Request",
  {
    readonly method: string;
    readonly url: string;
    readonly headers: { get(name: string): string | null };
    text(): Promise<string>;
  }
>;

/** The runtime's `Response` type. */
export type HttpResponse = DeclaredGlobal<"Response", object>;

/**
 * The header that contains the namespace of the client's token. Requests that a Worker sends for its leases through the
 * binding do not have this header.
 */
export const NAMESPACE_HEADER = "polyflake-namespace";
const CONNECTION_HEADER = "polyflake-connection";
const REQUEST_HEADER = "polyflake-request";

const TABLES = [
  "CREATE TABLE IF NOT EXISTS polyflake_store (id TEXT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS polyflake_namespaces (namespace TEXT PRIMARY KEY, record TEXT NOT NULL)",
  `CREATE TABLE IF NOT EXISTS polyflake_leases (
    namespace TEXT, first INTEGER, granted_until INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (namespace, first))`,
  "CREATE INDEX IF NOT EXISTS polyflake_ends ON polyflake_leases (namespace, granted_until, first)",
];

/**
 * The `granted_until` value of a reserved worker ID. It is not a time, so it is ignored when the latest end of all grants
 * is determined.
 */
const RESERVED_UNTIL = Number.MAX_SAFE_INTEGER;

/** The pattern for values of `POLYFLAKE_RESTORED`, such as a date. */
const RESTORED_PATTERN = /^[\w.:-]{1,64}$/;

/**
 * The class of the Durable Object that stores leases. The Worker must export this class, and the Worker's configuration
 * must bind the class with SQLite storage.
 */
export class LeaseStore {
  readonly #storage: ObjectState["storage"];
  readonly #name: string;
  /**
   * Identifies this instance of the object in the `polyflake-connection` header, so that later instances can reject
   * requests that require this instance.
   */
  readonly #connection = crypto.randomUUID();

  /**
   * @throws if `POLYFLAKE_RESTORED` is set but does not consist of 1 to 64 characters, each of which is a letter, a digit
   * or one of `_.:-`.
   */
  constructor(state: ObjectState, env: { readonly POLYFLAKE_RESTORED?: string }) {
    const restored = env.POLYFLAKE_RESTORED;
    if (restored !== undefined && !RESTORED_PATTERN.test(restored))
      throw new Error("expected 1 to 64 letters, digits and characters of `_.:-` in POLYFLAKE_RESTORED");
    this.#storage = state.storage;
    const id = state.storage.transactionSync(() => this.#create());
    this.#name = `durable-object:${id}${restored === undefined ? "" : `:${restored}`}`;
  }

  /** Answers one request from a lease. */
  async fetch(request: HttpRequest): Promise<HttpResponse> {
    const { headers } = request;
    const [demanded, repeated] = [headers.get(CONNECTION_HEADER), headers.get(REQUEST_HEADER)];
    if (demanded !== null && demanded !== this.#connection)
      return errorResponse(409, "connection_lost", "the object was started again after the last reply", false);
    const operation = parse(await request.text());
    if (operation instanceof Violation) return errorResponse(400, operation.code, operation.message);
    const owner = headers.get(NAMESPACE_HEADER);
    if (!permits(owner, operation.namespace))
      return errorResponse(403, "forbidden", "the token is not one of the request's namespace");
    const reply = this.#storage.transactionSync(() => this.#answer(operation, owner));
    return new Response(reply, {
      headers: {
        "content-type": "application/json",
        [CONNECTION_HEADER]: this.#connection,
        ...(repeated === null ? {} : { [REQUEST_HEADER]: repeated }),
      },
    });
  }

  #create(): string {
    for (const table of TABLES) this.#rows(table);
    const [stored] = this.#rows("SELECT id FROM polyflake_store");
    if (stored) return String(stored.id);
    const id = crypto.randomUUID();
    this.#rows("INSERT INTO polyflake_store VALUES (?)", id);
    return id;
  }

  #rows(text: string, ...values: (string | number)[]): { [column: string]: unknown }[] {
    return this.#storage.sql.exec(text, ...values).toArray();
  }

  /** Returns records as they are stored, in canonical JSON. */
  #records<T = LeaseRecord>(text: string, ...values: (string | number)[]): T[] {
    return this.#rows(text, ...values).map(({ record }) => JSON.parse(String(record)) as T);
  }

  #namespace(name: string): Namespace | undefined {
    return this.#records<Namespace>("SELECT record FROM polyflake_namespaces WHERE namespace = ?", name)[0];
  }

  #record(namespace: string, first: number): LeaseRecord | undefined {
    return this.#records("SELECT record FROM polyflake_leases WHERE namespace = ? AND first = ?", namespace, first)[0];
  }

  /**
   * Processes a request, and returns the reply in canonical JSON. `owner` is the namespace of the client's token, or null
   * for a request through the binding.
   */
  #answer(operation: Operation, owner: string | null): string {
    const result = this.#result(operation, owner);
    const namespace = this.#namespace(operation.namespace) ?? null;
    return JSON.stringify(sortKeys<unknown>({ ...result, namespace, now: Date.now(), store: this.#name }));
  }

  #result(operation: Operation, owner: string | null): object {
    const { namespace } = operation;
    switch (operation.ask) {
      case "open": {
        const record = JSON.stringify({ ...operation.new, store: this.#name });
        this.#rows("INSERT OR IGNORE INTO polyflake_namespaces VALUES (?, ?)", namespace, record);
        return { found: "nothing" };
      }
      case "find": {
        const sorted = "SELECT record FROM polyflake_leases WHERE namespace = ? ORDER BY granted_until, first LIMIT ?";
        return { found: "records", records: this.#records(sorted, namespace, operation.limit) };
      }
      case "read": {
        const record = this.#record(namespace, operation.first);
        return { found: "records", records: record ? [record] : [] };
      }
      case "put":
        return this.#put(operation);
      case "put_namespace":
        return this.#putNamespace(operation);
      case "survey": {
        const survey = `SELECT count(*) AS records, coalesce(max(iif(granted_until < ?, granted_until, 0)), 0) AS latest_end
          FROM polyflake_leases WHERE namespace = ?`;
        return { found: "survey", ...this.#rows(survey, RESERVED_UNTIL, namespace)[0] };
      }
      case "list": {
        const names = this.#rows("SELECT namespace FROM polyflake_namespaces ORDER BY namespace");
        const all = names.map(({ namespace }) => String(namespace));
        return { found: "names", names: all.filter((namespace) => permits(owner, namespace)) };
      }
    }
  }

  #put({ namespace, old, new: next }: Operation & { ask: "put" }): object {
    const current = this.#namespace(namespace);
    const record = this.#record(namespace, next.first);
    const isCurrent = current?.store === this.#name && current.incarnation === next.incarnation;
    const isUnchanged =
      record?.first === old.first &&
      record.version === old.version &&
      record.token === old.token &&
      record.incarnation === old.incarnation;
    if (!isCurrent || !isUnchanged) return { found: "differs", record: record ?? null };
    const swap = "UPDATE polyflake_leases SET granted_until = ?, record = ? WHERE namespace = ? AND first = ?";
    this.#rows(swap, next.granted_until, JSON.stringify(next), namespace, next.first);
    return { found: "done" };
  }

  #putNamespace({ namespace, old, new: next, first, count }: Operation & { ask: "put_namespace" }): object {
    const current = this.#namespace(namespace);
    const isUnchanged = current?.version === old.version && current.incarnation === old.incarnation;
    if (!isUnchanged || next.store !== this.#name) return { found: "differs", record: null };
    // An existing record may contain a grant, so keep it.
    const insert = "INSERT OR IGNORE INTO polyflake_leases VALUES (?, ?, 0, ?)";
    for (let at = 0; at < next.records - old.records; at++) {
      const record = freshRecord(first + at * count, count, next.incarnation);
      this.#rows(insert, namespace, record.first, JSON.stringify(record));
    }
    this.#rows("UPDATE polyflake_namespaces SET record = ? WHERE namespace = ?", JSON.stringify(next), namespace);
    return { found: "done" };
  }
}

/** Returns the record for worker IDs that have never been granted. The record's fields are in canonical order. */
const freshRecord = (first: number, count: number, incarnation: string): LeaseRecord => ({
  count,
  first,
  format: 1,
  granted_until: 0,
  holder: "",
  incarnation,
  start: 0,
  token: "0".repeat(32),
  version: 1,
});

/** Returns an error response in the form that the protocol defines. */
export function errorResponse(status: number, code: string, message: string, permanent = true): Response {
  const headers = { "content-type": "application/json" };
  return new Response(JSON.stringify({ code, message, permanent, until: null }), { status, headers });
}
