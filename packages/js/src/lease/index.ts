/**
 * Leases of node numbers, so that no two generators have one number at the same time: in a file of SQLite for the processes of a
 * machine, or in PostgreSQL. In Node, Deno and Bun.
 *
 * Loaded with `POLYFLAKE_LEASE` set, as by `node --import polyflake/lease`, it leases the numbers of the default generators.
 *
 * @module
 */
import process from "node:process";
import { string } from "../checks.js";
import { invalidType, PolyflakeError } from "../errors.js";
import type { AnyLease } from "../leased.js";
import type { Driver } from "./driver.js";
import { checked, Lease, type LeaseEvent, type LeaseOptions, leaseOptions } from "./lease.js";
import { type PgClient, type PgPool, postgresql, type Server } from "./postgresql.js";
import { Rules } from "./rules.js";
import { type DatabaseClass, sqlite } from "./sqlite.js";

export { PolyflakeError } from "../errors.js";
export type { AnyLease } from "../leased.js";
export { close, type Lease, type LeaseEvent, type LeaseOptions, type LeaseStatus } from "./lease.js";
export type { PgClient, PgPool } from "./postgresql.js";
export type { DatabaseClass } from "./sqlite.js";

/** A store: a URL (`sqlite:PATH`, `postgres://...`), a pool of pg, or a function that resolves to a connected client of pg. */
export type Source = string | PgPool | (() => Promise<PgClient>);

/** A place as the rules read it: a store, the settings that it decides, and terms that this side keeps. */
type Place = ({ store: "sqlite"; path: string } | { store: "postgresql"; server: Server }) & {
  place: string;
  namespace: string;
  node: number | null;
  schema: string | null;
  create: string | null;
  lease_ms: number | null;
  numbers: [first: number, last: number] | null;
  allows_overlayfs: boolean;
  wait_ms: number | null;
  sigterm: boolean;
};

/**
 * A lease of a number in a namespace. It begins with its generator: `new sno.Generator({ lease })`. Without a store, the variable
 * `POLYFLAKE_LEASE` names it, and `POLYFLAKE_NODE` a number that is insisted on.
 *
 * @param namespace may be in the URL instead: `?namespace=orders`. The family's name is added.
 * @throws {PolyflakeError} `out_of_range` for a URL or a namespace that is none, for a variable that is empty, or without the
 * database's client; `invalid_type`, `unknown_field` for options; `lease_unavailable` without a store.
 */
export function lease(source?: Source, namespace?: string, options: LeaseOptions = {}): Lease {
  const own = leaseOptions(options);
  if (source === undefined || typeof source === "string") {
    return byUrl(source, namespace === undefined ? null : string(namespace, "namespace"), own);
  }
  if (typeof source !== "function" && typeof Reflect.get(Object(source), "connect") !== "function") {
    throw invalidType("URL of a store, a pool of pg or a function", source, { field: "source" });
  }
  return new Lease(new Rules(), postgresql(source), string(namespace, "namespace"), own);
}

/**
 * Whether a lease could be acquired: for deployments and readiness probes. Resolves to the store's name without a password. Nothing is
 * leased and nothing written; a store that does not exist yet could be created.
 *
 * @param source as for {@link lease}; without one, the variables.
 * @throws {PolyflakeError} at once, with the reason and its code: `lease_unavailable`, `store_not_durable`, `store_changed`,
 * `numbers_exhausted`, `clock_skewed` and others.
 */
export async function check(source?: Source, namespace?: string, options: LeaseOptions = {}): Promise<string> {
  const { schema, sqlite: client } = leaseOptions(options);
  if (source !== undefined && typeof source !== "string") {
    const settings = { namespace: string(namespace, "namespace"), schema };
    await checked(new Rules(), postgresql(source), settings);
    return "the store";
  }
  const name = namespace === undefined ? null : string(namespace, "namespace");
  const { rules, driver, found } = placed(source, name, client);
  const { place, create } = found;
  const settings = { namespace: found.namespace, place, create, schema: schema ?? found.schema };
  try {
    await checked(rules, driver, settings);
  } catch (error) {
    const { code, message } = error as PolyflakeError;
    const lead = `cannot lease a worker ID from ${place}: `;
    throw message.startsWith(lead) ? error : new PolyflakeError(code, lead + message);
  }
  return place;
}

/** The rules, the driver and the place of a URL; without one, of the variables. */
function placed(
  url: string | undefined,
  namespace: string | null,
  client: DatabaseClass | undefined,
): { rules: Rules; driver: Driver; found: Place } {
  const { POLYFLAKE_LEASE = null, POLYFLAKE_NODE = null } = process.env;
  const asked = url === undefined ? { variables: [POLYFLAKE_LEASE, POLYFLAKE_NODE] } : { url };
  const rules = new Rules();
  const found = rules.ask("place", { ...asked, namespace }) as Place;
  const driver =
    found.store === "sqlite" ? sqlite(found.path, found.allows_overlayfs, rules, client) : postgresql(found.server);
  return { rules, driver, found };
}

function byUrl(url: string | undefined, namespace: string | null, options: LeaseOptions): Lease {
  const { rules, driver, found } = placed(url, namespace, options.sqlite);
  const { place, namespace: name, node, schema, create, lease_ms, numbers } = found;
  const own = { ...options };
  if (found.wait_ms !== null) own.waitMs ??= found.wait_ms;
  if (found.sigterm) own.signals ??= ["SIGTERM"];
  return new Lease(rules, driver, name, own, { place, node, schema, create, lease_ms, numbers });
}

/** The families that have default generators, with leases that no generator has taken yet. */
const begun = new Map<string, Lease>();
const FAMILIES = ["sno", "hotguid"];

/** Why the variables give the default generators no lease. */
let failure: unknown;

/**
 * Resolves once the default generators have worker IDs. An ES module that imports `polyflake/lease` has waited for this already; it
 * begins without worker IDs if the store does not grant any in time, and the first ID then throws the reason.
 *
 * @throws {PolyflakeError} `lease_unavailable` after 10 seconds, with the reason; any error of the variables.
 */
export async function ready(): Promise<void> {
  if (failure) throw failure;
  await Promise.all([...begun.values()].map((lease) => lease.ready()));
}

/** The reason that the last warning gave. */
let warned: string | undefined;

/** Warns of each new reason for which the default generators have no worker ID: the program itself may not make an ID for a while. */
function warn({ name, message }: LeaseEvent): void {
  if (name === "acquired" || name === "renewed") warned = undefined;
  if (name !== "refused" || message === warned) return;
  warned = message;
  const text = `no lease for the default generators: ${message}`;
  process.emitWarning(text, { type: "PolyflakeWarning", code: "polyflake_lease" });
}

/** Begins the leases of the default generators, unless another copy of the package has. */
function preload(): void {
  const realm = globalThis as { [key: symbol]: unknown };
  const key = Symbol.for("polyflake.lease");
  if (realm[key]) return;
  realm[key] = (family: string): AnyLease => {
    const taken = begun.get(family) ?? lease(undefined, undefined, { watch: warn });
    begun.delete(family);
    return taken;
  };
  if (process.env.POLYFLAKE_LEASE === undefined && process.env.POLYFLAKE_NODE === undefined) return;
  for (const family of FAMILIES) {
    try {
      const own = lease(undefined, undefined, { watch: warn });
      own.begin({ family }, true);
      begun.set(family, own);
    } catch (error) {
      // The first ID throws it too.
      failure ??= error;
    }
  }
}

preload();
