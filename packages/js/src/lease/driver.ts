import nodeModule, { type createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { PolyflakeError } from "../errors.js";
import type { Value } from "./rules.js";

/** A store, which opens a connection for each request. The database client can be synchronous. */
export interface Driver {
  readonly store: "sqlite" | "postgresql";
  open(): Connection | Promise<Connection>;
  /**
   * Checks the path of a file, and returns whether the file exists.
   *
   * @throws {PolyflakeError} an error from the rules if the file cannot exist.
   */
  look?(): boolean;
}

/** A connection in autocommit mode. */
export interface Connection {
  /** The name of the file, or null if the store is not SQLite. */
  readonly name: string | null;
  /** The notices that the PostgreSQL server has sent so far. */
  readonly notices?: { code: string | null; message: string }[];
  /** Runs one statement and returns its rows. */
  run(text: string, values: Value[]): Value[][] | Promise<Value[][]>;
  /** Closes the connection. If the connection is lost, it is closed without waiting. */
  close(isLost: boolean): unknown;
}

/** Returns the reason why a statement failed. The code is null unless the database responded. */
export function failureOf(error: unknown): { code: string | null; message: string } {
  const { code, severity, message } = Object(error) as Record<string, unknown>;
  return { code: severity && typeof code === "string" ? code : null, message: String(message ?? error) };
}

/**
 * Returns a module that the program has installed. It comes from `polyflake/lease/pg`, or Node finds it from the program's
 * folder or the working directory.
 *
 * @throws {PolyflakeError} `out_of_range` if the module is not installed. The message states the remedy.
 */
export function installed<Module>(name: string, remedy: string): Module {
  const imported = Reflect.get(globalThis, Symbol.for(`polyflake.${name}`));
  if (imported) return imported as Module;
  // In a way that no bundler sees, as in machines/addon.ts.
  const requireAt = Reflect.get(nodeModule, "createRequire") as typeof createRequire;
  const places = [process.argv[1], join(process.cwd(), "package.json")];
  let cause: unknown;
  for (const place of places) {
    try {
      if (place !== undefined) return requireAt(place)(name) as Module;
    } catch (thrown) {
      cause = thrown;
    }
  }
  throw new PolyflakeError("out_of_range", `expected the module ${name}, found none: ${remedy}`, { cause });
}
