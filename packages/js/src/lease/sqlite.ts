/**
 * A store in an SQLite file.
 *
 * Two programs use the same store only if they use the same file, so the rules derive the store's name from the file's
 * inode number and birth time. The inode number alone is not enough: file systems reuse the inode numbers of removed files,
 * so a restored backup could have the same name as the file that it replaced. The device is not part of the name, because
 * it changes when a volume is mounted elsewhere. The birth time is in milliseconds, because Deno does not report a higher
 * precision. The name is determined both before and after the file is opened, because the path may have started to refer to
 * a different file in the meantime.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  realpathSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { PolyflakeError } from "../errors.js";
import { type Connection, type Driver, requireModule } from "./driver.js";
import type { Rules, Value } from "./rules.js";

/** The part of the node:sqlite and better-sqlite3 interfaces that is used here. */
interface Database {
  prepare(text: string): Statement;
  exec(text: string): unknown;
  close(): void;
}
interface Statement {
  all(...values: unknown[]): unknown[];
  run(...values: unknown[]): unknown;
  /** Whether the statement returns rows. Only better-sqlite3 has this property. */
  readonly reader?: boolean;
}

/** The class of a database client: `DatabaseSync` from node:sqlite, or the better-sqlite3 class. */
export type DatabaseClass = new (path: string) => Database;

/**
 * The maximum time that a statement waits for a locked file, in milliseconds. The wait blocks the thread. If the file is
 * still locked afterwards, the rules retry.
 */
const BUSY_TIMEOUT_MS = 1000;

/** Creates a store in an SQLite file. The file is opened for each request. */
export function sqlite(path: string, allowsOverlayfs: boolean, rules: Rules, given: DatabaseClass | undefined): Driver {
  const file = toAbsolutePath(path);
  const Client = given ?? loadClientClass();
  const open = (): Connection => {
    const before = nameOf(file, allowsOverlayfs, rules);
    const database = new Client(file);
    try {
      database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      if (nameOf(file, allowsOverlayfs, rules) !== before)
        throw new Error("expected one file while it was opened, found another one");
    } catch (error) {
      database.close();
      throw error;
    }
    return { name: before, run: (text, values) => runStatement(database, text, values), close: () => database.close() };
  };
  const checkFile = (): boolean => {
    const folder = dirname(file);
    let system: number | null = null;
    try {
      if (existsSync(file)) return true;
      accessSync(folder, constants.W_OK);
      system = fileSystemType(folder);
    } catch (cause) {
      rules.ask("name", { error: codeOf(cause) }, { cause });
    }
    rules.ask("name", { folder: true, system, allows_overlayfs: allowsOverlayfs });
    return false;
  };
  return { store: "sqlite", open, checkFile };
}

/**
 * Returns the absolute path of a file, because the working directory may change.
 *
 * @throws {PolyflakeError} `lease_unavailable` if the working directory is unknown, because it was removed or because Deno does
 * not permit the program to read it.
 */
function toAbsolutePath(path: string): string {
  try {
    return resolve(path);
  } catch (cause) {
    const reason = `the working directory is unknown: ${(cause as Error).message}`;
    throw new PolyflakeError("lease_unavailable", reason, { cause });
  }
}

/** Returns the code of a system error, such as ENOENT, or its message if it has no code. */
function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

/** Returns the file system's type number, or null on systems other than Linux. */
const fileSystemType = (path: string): number | null =>
  process.platform === "linux" ? Number(BigInt.asUintN(32, statfsSync(path, { bigint: true }).type)) : null;

function loadClientClass(): DatabaseClass {
  const remedy = "use Node 22.13 or later, or install better-sqlite3@12";
  const builtIn = process.getBuiltinModule?.("node:sqlite");
  return (builtIn?.DatabaseSync as unknown as DatabaseClass) ?? requireModule<DatabaseClass>("better-sqlite3", remedy);
}

/** Runs a statement. Its values are bound by name, because the clients bind numbered parameters differently. */
function runStatement(database: Database, text: string, values: Value[]): Value[][] {
  const statement = database.prepare(text.replace(/\?(\d+)/g, ":p$1"));
  const named = values.length === 0 ? [] : [Object.fromEntries(values.map((value, k) => [`p${k + 1}`, value]))];
  if (statement.reader === false) {
    statement.run(...named);
    return [];
  }
  return statement.all(...named).map((row) => Object.values(row as object));
}

/** Returns whether a file is a mount point of its own, such as a single file that is mounted into a container. */
function isMountPoint(file: string): boolean {
  if (process.platform !== "linux") return false;
  try {
    const toEscape = (character: string) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`;
    const path = realpathSync(file).replace(/[ \t\n\\]/g, toEscape);
    return readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .some((line) => line.split(" ", 5)[4] === path);
  } catch {
    // Deno can forbid the program to read this file. A file that is mounted from another file system is still recognized.
    return statSync(file).dev !== statSync(dirname(file)).dev;
  }
}

/** Returns the store's name, which identifies the file. Creates the file if it does not exist. */
function nameOf(file: string, allowsOverlayfs: boolean, rules: Rules): string {
  try {
    closeSync(openSync(file, "wx"));
  } catch (error) {
    if (codeOf(error) !== "EEXIST") rules.ask("name", { error: codeOf(error) });
  }
  // Node returns 64-bit integers as signed, but inode numbers are unsigned.
  const { ino, birthtimeMs, nlink } = statSync(file, { bigint: true });
  const birth = birthtimeMs > 0n ? String(birthtimeMs) : null;
  const facts = {
    inode: String(BigInt.asUintN(64, ino)),
    birth,
    links: Number(nlink),
    mount: isMountPoint(file),
    system: fileSystemType(file),
    allows_overlayfs: allowsOverlayfs,
  };
  return rules.ask("name", facts) as string;
}
