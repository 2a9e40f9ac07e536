/**
 * Leases of node numbers, so that no two generators have one number at the same time: in a file of SQLite for the processes of a
 * machine, or in PostgreSQL. Node alone; Deno and Bun have Node's modules too.
 *
 * Loaded with `POLYFLAKE_LEASE` set, as by `node --import polyflake/lease`, it leases the numbers of the default generators.
 *
 * @module
 */
import process from "node:process";
import { string } from "../checks.js";
import { invalidType, PolyflakeError } from "../errors.js";
import type { AnyLease } from "../leased.js";
import { Lease, type LeaseOptions, leaseOptions } from "./lease.js";
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
}

/**
 * A lease of a number in a namespace. It begins with its generator: `new sno.Generator({ lease })`. Without a store, the variable
 * `POLYFLAKE_LEASE` names it, and `POLYFLAKE_NODE` a number that is insisted on.
 *
 * @param namespace may be in the URL instead: `?namespace=orders`. The family's name is added.
 * @throws {PolyflakeError} `out_of_range` for a URL or a namespace that is none, or without the database's client; `invalid_type`,
 * `unknown_field` for options; `lease_unavailable` without a store.
 */
export function lease(source?: Source, namespace?: string, options: LeaseOptions = {}): Lease {
  const own = leaseOptions(options);
  if (source === undefined) return fromVariables(own);
  if (typeof source === "string") return byUrl(source, namespace, undefined, own);
  if (typeof source !== "function" && typeof Reflect.get(Object(source), "connect") !== "function") {
    throw invalidType("URL of a store, a pool of pg or a function", source, { field: "source" });
  }
  return new Lease(new Rules(), postgresql(source), string(namespace, "namespace"), own);
}

function byUrl(url: string, namespace: unknown, node: string | undefined, options: LeaseOptions): Lease {
  const rules = new Rules();
  const place = rules.ask("place", { url, namespace: namespace ?? null, node: node ?? null }) as Place;
  const isFile = place.store === "sqlite";
  const driver = isFile ? sqlite(place.address, rules, options.sqlite) : postgresql(place.address);
  const insist = options.insist ?? place.insist ?? undefined;
  return new Lease(rules, driver, place.namespace, insist === undefined ? options : { ...options, insist });
}

function fromVariables(options: LeaseOptions): Lease {
  const { POLYFLAKE_LEASE: url, POLYFLAKE_NODE: node } = process.env;
  if (url) return byUrl(url, undefined, node || undefined, options);
  const reason = "expected the variable POLYFLAKE_LEASE, as in sqlite:/var/lib/app/ids.db?namespace=orders, found";
  throw new PolyflakeError("lease_unavailable", `${reason} ${node ? "POLYFLAKE_NODE alone" : "none"}`);
}

/** The families that have default generators, with leases that no generator has taken yet. */
const begun = new Map<string, Lease>();
const FAMILIES = ["sno", "hotguid"];

/**
 * Resolves once the default generators have numbers, or after 10 seconds without; then their first ID throws the reason. A module
 * of ECMAScript that imports `polyflake/lease` in Node has waited for this already.
 */
export async function ready(): Promise<void> {
  await Promise.allSettled([...begun.values()].map((lease) => lease.ready()));
}

/** Begins the leases of the default generators, unless another copy of the package has. */
function preload(): void {
  const realm = globalThis as { [key: symbol]: unknown };
  const key = Symbol.for("polyflake.lease");
  if (realm[key]) return;
  realm[key] = (family: string): AnyLease => {
    const lease = begun.get(family) ?? fromVariables({});
    begun.delete(family);
    return lease;
  };
  if (!process.env.POLYFLAKE_LEASE) return;
  for (const family of FAMILIES) {
    try {
      const lease = fromVariables({});
      lease.begin({ family });
      begun.set(family, lease);
    } catch {
      // The first ID throws it.
    }
  }
}

preload();
