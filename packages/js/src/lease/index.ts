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
import { invalidType } from "../errors.js";
import type { AnyLease } from "../leased.js";
import { Lease, type LeaseEvent, type LeaseOptions, leaseOptions } from "./lease.js";
import { type PgClient, type PgPool, postgresql } from "./postgresql.js";
import { Rules } from "./rules.js";
import { sqlite } from "./sqlite.js";

export { PolyflakeError } from "../errors.js";
export type { AnyLease } from "../leased.js";
export { close, type Lease, type LeaseEvent, type LeaseOptions, type LeaseStatus } from "./lease.js";
export type { PgClient, PgPool } from "./postgresql.js";
export type { DatabaseClass } from "./sqlite.js";

/** A store: a URL (`sqlite:PATH`, `postgres://...`), a pool of pg, or a function that resolves to a connected client of pg. */
export type Source = string | PgPool | (() => Promise<PgClient>);

/** A place as the rules read it. */
interface Place {
  store: "sqlite" | "postgresql";
  address: string;
  namespace: string;
  insist: number | null;
  schema: string | null;
  create: string | null;
  allows_overlayfs: boolean;
}

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

/** Without a URL, the variables say the place. */
function byUrl(url: string | undefined, namespace: string | null, options: LeaseOptions): Lease {
  const { POLYFLAKE_LEASE = null, POLYFLAKE_NODE = null } = process.env;
  const asked = url === undefined ? { variables: [POLYFLAKE_LEASE, POLYFLAKE_NODE] } : { url };
  const rules = new Rules();
  const place = rules.ask("place", { ...asked, namespace }) as Place;
  const isFile = place.store === "sqlite";
  const driver = isFile
    ? sqlite(place.address, place.allows_overlayfs, rules, options.sqlite)
    : postgresql(place.address);
  const insist = options.insist ?? place.insist;
  const schema = options.schema ?? place.schema;
  const own = { ...options, ...(insist === null ? {} : { insist }), ...(schema === null ? {} : { schema }) };
  return new Lease(rules, driver, place.namespace, own, place.create);
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
      own.begin({ family });
      begun.set(family, own);
    } catch (error) {
      // The first ID throws it too.
      failure ??= error;
    }
  }
}

preload();
