// Adapts libSQL's SQLite driver to the better-sqlite3 interface as far as TypeORM uses that interface.
import Database from "libsql";

/**
 * Converts bytes to a Buffer, as better-sqlite3 does, because TypeORM uses Buffers to distinguish rows. Returns any
 * other value unchanged.
 */
const toBuffer = (value) => (value instanceof ArrayBuffer || ArrayBuffer.isView(value) ? Buffer.from(value) : value);

/**
 * Passes a statement's parameters as one array. TypeORM passes them one by one, and libSQL would mistake a single
 * Buffer for an object of named parameters. Depending on its version, TypeORM calls this function with or without
 * `new`.
 */
export function LibsqlDriver(...options) {
  const database = new Database(...options);
  const prepare = (query) => {
    const statement = Database.prototype.prepare.call(database, query);
    const { all, run } = statement;
    return Object.assign(statement, {
      all: (...parameters) =>
        all
          .call(statement, parameters)
          .map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toBuffer(value)]))),
      run: (...parameters) => run.call(statement, parameters),
    });
  };
  return Object.assign(database, { prepare });
}
