import nodeModule, { type createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { PolyflakeError } from "../errors.js";
import type { Value } from "./rules.js";

/** A store: opens a connection for each request. What is synchronous in the client is here, too. */
export interface Driver {
  readonly store: "sqlite" | "postgresql";
  open(): Connection | Promise<Connection>;
  /**
   * Checks a file's path, and returns whether the file exists.
   *
   * @throws {PolyflakeError} an error of the rules, if there could not be one.
   */
  look?(): boolean;
}

/** A connection in autocommit. */
export interface Connection {
  /** The name of the file, which SQLite has. */
  readonly name: string | null;
  /** The server's notices that came so far, which PostgreSQL sends. */
  readonly notices?: { code: string | null; message: string }[];
  /** Runs one statement, and returns its rows. */
  run(text: string, values: Value[]): Value[][] | Promise<Value[][]>;
  /** Ends the connection, at once if it is of no use any more. */
  close(isLost: boolean): unknown;
}

/** Why a statement failed: the database's code is known only where a server answered. */
export function failureOf(error: unknown): { code: string | null; message: string } {
  const { code, severity, message } = Object(error) as Record<string, unknown>;
  return { code: severity && typeof code === "string" ? code : null, message: String(message ?? error) };
}

/**
 * A module that the program has installed: that of `polyflake/lease/pg`, or one beside the program or in the working directory.
 *
 * @throws {PolyflakeError} `out_of_range`, with the remedy.
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
