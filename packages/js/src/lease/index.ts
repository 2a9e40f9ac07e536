/**
 * Leases worker IDs, so that no two generators use the same worker ID at the same time. The store can be an SQLite file
 * (for processes on one host), a database in PostgreSQL, MySQL, MariaDB, Redis or Valkey, or a service over HTTP. This
 * module works in Node, Deno and Bun.
 *
 * If the `POLYFLAKE_LEASE` environment variable is set when this module is loaded, for example with `node --import
 * polyflake/lease`, the default generators, such as the default generator of `sno`, lease their worker IDs.
 * `POLYFLAKE_FORMATS` can limit this to some formats.
 *
 * @module
 */
import process from "node:process";
import { checkString } from "../checks.js";
import { invalidType, PolyflakeError } from "../errors.js";
import type { AnyLease } from "../leased.js";
import { newRules } from "./compiled.js";
import { type Driver, readVariable } from "./driver.js";
import { DEFAULT_FORMATS } from "./formats.js";
import { http } from "./http.js";
import {
  buildSettings,
  checkLeaseOptions,
  isClosing,
  LEASE_KEY,
  Lease,
  type LeaseEvent,
  type LeaseOptions,
  runCheck,
} from "./lease.js";
import { type MysqlPool, mysql, mysqlPool } from "./mysql.js";
import { type PgClient, type PgPool, postgresql, type Server } from "./postgresql.js";
import { type RedisClient, redis } from "./redis.js";
import type { Rules } from "./rules.js";
import { type DatabaseClass, sqlite } from "./sqlite.js";

export { PolyflakeError } from "../errors.js";
export type { AnyLease } from "../leased.js";
export { close, type Lease, type LeaseEvent, type LeaseOptions, type LeaseStatus } from "./lease.js";
export type { MysqlPool } from "./mysql.js";
export type { PgClient, PgPool } from "./postgresql.js";
export type { RedisClient } from "./redis.js";
export type { DatabaseClass } from "./sqlite.js";

/**
 * A store: a URL (`sqlite:PATH`, `postgres://...`, `mysql://...`, `rediss://...`, `https://...`), a pool of `pg` or
 * `mysql2/promise`, a function that resolves to a connected `pg` client, or a client of ioredis or node-redis.
 */
export type Source = string | PgPool | (() => Promise<PgClient>) | MysqlPool | RedisClient;

/**
 * The URL of a lease, as the lease rules have parsed it: the store, its settings, and the options that the JavaScript side
 * uses.
 */
type LeaseUrl = (
  | { store: "sqlite"; path: string }
  | { store: "postgresql" | "mysql" | "redis" | "http"; server: Server }
) & {
  store_name: string;
  namespace: string;
  environment_worker_id: number | null;
  schema: string | null;
  create: string | null;
  storage: string | null;
  lease_ms: number | null;
  renew_ms: number | null;
  strict: boolean;
  worker_ids: [first: number, last: number] | null;
  allows_overlayfs: boolean;
  wait_ms: number | null;
  sigterm: boolean;
};

/**
 * Creates a lease on a worker ID in a namespace. The lease starts when a generator is created with it:
 * `new sno.Generator({ lease })`.
 *
 * If no store is passed, the store's URL is read from the `POLYFLAKE_LEASE` environment variable, and the
 * `POLYFLAKE_WORKER_ID` environment variable can require a particular worker ID.
 *
 * @param namespace The namespace, which can also be in the URL: `?namespace=orders`. The name of the ID format is appended.
 * @throws {PolyflakeError} `out_of_range` if the URL or the namespace is invalid, if an environment variable is empty, or if
 * the database's client is not installed; `invalid_type` or `unknown_field` if an option is invalid; `lease_unavailable` if no
 * store is configured.
 */
export function lease(source?: Source, namespace?: string, options: LeaseOptions = {}): Lease {
  const own = checkLeaseOptions(options);
  if (source === undefined || typeof source === "string") {
    return leaseFromUrl(source, namespace === undefined ? null : checkString(namespace, "namespace"), own);
  }
  return new Lease(newRules(), driverForClient(source), checkString(namespace, "namespace"), own);
}

function driverForClient(source: Exclude<Source, string>): Driver {
  if (typeof Reflect.get(Object(source), "duplicate") === "function") return redis(source as RedisClient);
  if (typeof Reflect.get(Object(source), "getConnection") === "function") return mysqlPool(source as MysqlPool);
  if (typeof source !== "function" && typeof Reflect.get(Object(source), "connect") !== "function") {
    const expected = "URL of a store, a pool of pg or mysql2, a client of Redis or a function";
    throw invalidType(expected, source, { field: "source" });
  }
  return postgresql(source as Exclude<typeof source, MysqlPool | RedisClient>);
}

/**
 * Checks whether a lease could be acquired, for deployment scripts. The promise resolves to the name of the store, without a
 * password. The check neither leases a worker ID nor writes to the store. It also succeeds if the store does not exist yet but
 * could be created.
 *
 * @param source The store, as for {@link lease}; by default, the store in the environment variables.
 * @throws {PolyflakeError} immediately, with the reason, if no lease could be acquired. The code is `lease_unavailable`,
 * `store_not_durable`, `store_changed`, `worker_ids_exhausted`, `clock_skewed` or another lease code.
 */
export async function check(source?: Source, namespace?: string, options: LeaseOptions = {}): Promise<string> {
  const own = checkLeaseOptions(options);
  if (source !== undefined && typeof source !== "string") {
    const driver = driverForClient(source);
    await runCheck(newRules(), driver, buildSettings(driver, checkString(namespace, "namespace"), own, {}));
    return "the store";
  }
  const name = namespace === undefined ? null : checkString(namespace, "namespace");
  const { rules, driver, found, terms } = resolveStore(source, name, own.sqlite);
  const { store_name: storeName } = found;
  try {
    await runCheck(rules, driver, buildSettings(driver, found.namespace, own, terms));
  } catch (error) {
    const messagePrefix = `cannot lease a worker ID from ${storeName}: `;
    if (!(error instanceof PolyflakeError) || error.message.startsWith(messagePrefix)) throw error;
    const { code, message, ...details } = error;
    throw new PolyflakeError(code, messagePrefix + message, details);
  }
  return storeName;
}

/**
 * Creates the rules and the driver for a URL or, without one, for the environment variables. Returns them together with the
 * parsed URL.
 */
function resolveStore(
  url: string | undefined,
  namespace: string | null,
  client: DatabaseClass | undefined,
): { rules: Rules; driver: Driver; found: LeaseUrl; terms: Readonly<Record<string, unknown>> } {
  const variables = () => [readVariable("POLYFLAKE_LEASE") ?? null, readVariable("POLYFLAKE_WORKER_ID") ?? null];
  const query = url === undefined ? { variables: variables() } : { url };
  const rules = newRules();
  const found = rules.ask("lease_url", { ...query, namespace }) as LeaseUrl;
  const driver = createDriver(found, rules, client);
  const {
    store_name,
    environment_worker_id,
    schema,
    create,
    storage,
    lease_ms,
    renew_ms,
    strict,
    worker_ids,
    wait_ms,
  } = found;
  const location = { store_name, environment_worker_id, schema, create, storage };
  const terms = { ...location, lease_ms, renew_ms, strict, worker_ids, wait_ms };
  return { rules, driver, found, terms };
}

function createDriver(found: LeaseUrl, rules: Rules, client: DatabaseClass | undefined): Driver {
  if (found.store === "sqlite") return sqlite(found.path, found.allows_overlayfs, rules, client);
  const drivers = { http, mysql, postgresql, redis };
  return drivers[found.store](found.server);
}

function leaseFromUrl(url: string | undefined, namespace: string | null, options: LeaseOptions): Lease {
  const { rules, driver, found, terms } = resolveStore(url, namespace, options.sqlite);
  const own = { ...options };
  if (found.sigterm) own.signals ??= ["SIGTERM"];
  return new Lease(rules, driver, found.namespace, own, terms);
}

/** The leases of the default generators on a thread. All copies of the package share them. */
interface DefaultLeases {
  /** Returns the lease for a format's next default generator. */
  (family: string): AnyLease;
  /** Resolves once each lease has a worker ID, whether or not a generator uses the lease. */
  ready(): Promise<unknown>;
}

const realm = globalThis as { [LEASE_KEY]?: DefaultLeases };

/** The reason why the environment variables provide no lease for the default generators. */
let preloadFailure: unknown;

/**
 * Resolves once the default generators have worker IDs. It also waits if a default generator has lost its worker ID, for
 * example after `afterRestore`, until the generator has another one.
 *
 * Importing `polyflake/lease` in an ES module already waits for this. If the store does not grant worker IDs in time, the
 * import completes without worker IDs, and the first call that generates an ID throws an error with the reason.
 *
 * @throws {PolyflakeError} `lease_unavailable`, with the reason and, if known, `retryAt`, if a worker ID is not leased within
 * 10 seconds (70 seconds if `POLYFLAKE_WORKER_ID` is set); a different error if an environment variable is invalid.
 */
export async function ready(): Promise<void> {
  if (preloadFailure) throw preloadFailure;
  await realm[LEASE_KEY]?.ready();
}

/** The reason in the last warning. */
let lastWarning: string | undefined;

/**
 * Warns about each new reason why the default generators have no worker ID. Without the warning, a program would notice the
 * problem only when it generates its first ID.
 */
function warn({ name, message }: LeaseEvent): void {
  if (name === "acquired" || name === "renewed") lastWarning = undefined;
  if (name !== "rejected" || message === lastWarning) return;
  lastWarning = message;
  const text = `no lease for the default generators: ${message}`;
  process.emitWarning(text, { type: "PolyflakeWarning", code: "polyflake_lease" });
}

/** Starts the default generators' leases, unless another copy of the package has already done so. */
function preload(): void {
  if (realm[LEASE_KEY]) return;
  const url = readVariable("POLYFLAKE_LEASE") ?? readVariable("POLYFLAKE_WORKER_ID");
  const known: readonly string[] = DEFAULT_FORMATS;
  const formats = (readVariable("POLYFLAKE_FORMATS") ?? known.join()).split(",");
  if (url !== undefined && !formats.every((format) => known.includes(format))) {
    const expected = `expected some of ${known.join()}, found \`${formats.join()}\``;
    const reason = `cannot read POLYFLAKE_FORMATS: ${expected}`;
    throw new PolyflakeError("out_of_range", reason);
  }
  const leases = new Map<string, Lease>();
  const unused = new Set<Lease>();
  const begin = (family: string): Lease => {
    const own = lease(undefined, undefined, { watch: warn });
    own.begin({ family }, true);
    leases.set(family, own);
    return own;
  };
  const take = (family: string): Lease => {
    const known = leases.get(family);
    return known && unused.delete(known) && !isClosing(known) ? known : begin(family);
  };
  const open = () => [...leases.values()].filter((lease) => !isClosing(lease));
  realm[LEASE_KEY] = Object.assign(take, { ready: () => Promise.all(open().map((lease) => lease.ready())) });
  if (url === undefined) return;
  for (const family of formats) {
    try {
      unused.add(begin(family));
    } catch (error) {
      // The call that generates the first ID also throws this error.
      preloadFailure ??= error;
    }
  }
}

preload();
