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
  const driver = isFile ? sqlite(place.address, rules, options.sqlite) : postgresql(place.address);
  const insist = options.insist ?? place.insist ?? undefined;
  return new Lease(rules, driver, place.namespace, insist === undefined ? options : { ...options, insist });
}

/** The families that have default generators, with leases that no generator has taken yet. */
const begun = new Map<string, Lease>();
const FAMILIES = ["sno", "hotguid"];

/**
 * Resolves once the default generators have numbers, or after 10 seconds without; then their first ID throws the reason. A module
 * of ECMAScript that imports `polyflake/lease` has waited for this already.
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
    const taken = begun.get(family) ?? lease();
    begun.delete(family);
    return taken;
  };
  if (process.env.POLYFLAKE_LEASE === undefined) return;
  for (const family of FAMILIES) {
    try {
      const own = lease();
      own.begin({ family });
      begun.set(family, own);
    } catch {
      // The first ID throws it.
    }
  }
}

preload();
