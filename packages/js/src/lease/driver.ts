import nodeModule, { type createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { PolyflakeError } from "../errors.js";
import type { Value } from "./rules.js";

export { failureOf } from "./failure.js";

/** A store, which opens a connection for each request. The database client can be synchronous. */
export interface Driver {
  readonly store: "sqlite" | "postgresql" | "mysql" | "redis" | "http";
  open(): Connection | Promise<Connection>;
  /**
   * Checks the path of a file, and returns whether the file exists.
   *
   * @throws {PolyflakeError} the error from the lease rules if the file neither exists nor can be created.
   */
  checkFile?(): boolean;
}

/** A connection in autocommit mode. */
export interface Connection {
  /** The store's name, which identifies the SQLite file, or null if the store is not SQLite. */
  readonly name: string | null;
  /** The notices that the PostgreSQL server has sent so far. */
  readonly notices?: { code: string | null; message: string }[];
  /** Runs one statement and returns its rows. */
  run(text: string, values: Value[]): Value[][] | Promise<Value[][]>;
  /** Closes the connection, without waiting for the server if the connection is lost. The caller ignores errors. */
  close(isLost: boolean): unknown;
}

const VARIABLES = ["POLYFLAKE_LEASE", "POLYFLAKE_WORKER_ID", "POLYFLAKE_FORMATS", "POLYFLAKE_HOLDER"] as const;

/**
 * Returns the value of an environment variable, or undefined if it is not set.
 *
 * @throws {PolyflakeError} `lease_unavailable` in Deno if the program does not have permission to read the variable.
 */
export function readVariable(name: (typeof VARIABLES)[number]): string | undefined {
  try {
    return process.env[name];
  } catch (cause) {
    const remedy = `start with deno run --allow-env=${VARIABLES.join()}`;
    const reason = `expected the permission to read ${name}, found none: ${remedy}`;
    throw new PolyflakeError("lease_unavailable", reason, { cause });
  }
}

/**
 * Returns a module that the program has installed. If `polyflake/lease/pg` has imported the module, that copy is used.
 * Otherwise, the module is resolved from the program's folder or the working directory.
 *
 * @throws {PolyflakeError} `out_of_range` if the module is not installed. The message includes `remedy`, which states what
 * to do.
 */
export function requireModule<Module>(name: string, remedy: string): Module {
  const imported = Reflect.get(globalThis, Symbol.for(`polyflake.${name}`));
  if (imported) return imported as Module;
  // Hide `createRequire` from bundlers, as in machines/addon.ts.
  const requireAt = Reflect.get(nodeModule, "createRequire") as typeof createRequire;
  // The working directory may have been removed, or Deno may not permit the program to read it.
  const resolutionPaths = [() => process.argv[1], () => join(process.cwd(), "package.json")];
  let cause: unknown;
  for (const placeOf of resolutionPaths) {
    try {
      const place = placeOf();
      if (place !== undefined) return requireAt(place)(name) as Module;
    } catch (thrown) {
      cause = thrown;
    }
  }
  throw new PolyflakeError("out_of_range", `expected the module ${name}, found none: ${remedy}`, { cause });
}
