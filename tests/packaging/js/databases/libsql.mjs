// libSQL's driver of SQLite, as TypeORM calls better-sqlite3.
import Database from "libsql";

/** A value as better-sqlite3 returns it: bytes are a Buffer, by which TypeORM tells rows apart. */
const asBuffer = (value) => (value instanceof ArrayBuffer || ArrayBuffer.isView(value) ? Buffer.from(value) : value);

/**
 * TypeORM gives a statement's parameters one by one, but libSQL takes a Buffer by itself for an object of named ones. Called with
 * and without `new`, as different versions do.
 */
export function Listed(...options) {
  const database = new Database(...options);
  const prepare = (query) => {
    const statement = Database.prototype.prepare.call(database, query);
    const { all, run } = statement;
    return Object.assign(statement, {
      all: (...parameters) =>
        all
          .call(statement, parameters)
          .map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asBuffer(value)]))),
      run: (...parameters) => run.call(statement, parameters),
    });
  };
  return Object.assign(database, { prepare });
}
