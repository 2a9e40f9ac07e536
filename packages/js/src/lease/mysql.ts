import { isIP } from "node:net";
import { PolyflakeError } from "../errors.js";
import { type Connection, type Driver, requireModule } from "./driver.js";
import { readRootCertificates, type Server } from "./postgresql.js";
import type { Value } from "./rules.js";

/** A `mysql2/promise` connection. */
interface Client {
  query(query: object): Promise<[unknown, unknown]>;
  execute(query: object, values: Value[]): Promise<[unknown, unknown]>;
  on(event: "error", listener: () => void): unknown;
  end(): Promise<unknown>;
  destroy(): unknown;
}

/** A pool of `mysql2` or `mysql2/promise`, or another object that connects, for example with a password that changes. */
export interface MysqlPool {
  /** Returns the pool that returns promises, if this pool has callbacks. */
  promise?(): MysqlPool;
  /** Returns a connection, which a lease closes after each request. */
  getConnection(): Promise<object>;
}

/**
 * Creates a MySQL or MariaDB store from a pool. Each request uses a separate connection, which is not returned to the pool,
 * because the statements change settings of the session.
 */
export function mysqlPool(pool: MysqlPool): Driver {
  const promised = pool.promise?.() ?? pool;
  return {
    store: "mysql",
    open: async () => connection((await promised.getConnection().catch(rethrow)) as Client),
  };
}

/**
 * Creates a MySQL or MariaDB store from the server settings in a URL. Each request uses a separate connection.
 *
 * @throws {PolyflakeError} `out_of_range` for an encrypted connection to an IP address, because `mysql2` accepts a
 * certificate for any host in this case.
 */
export function mysql(server: Server): Driver {
  const [host, port] = server.hosts[0]!;
  if (server.encrypts && isIP(host)) {
    const expected = "expected the name of a host, since mysql2 does not compare a certificate with an IP address";
    throw new PolyflakeError("out_of_range", `${expected}; name the host, or add \`sslmode=disable\` to the URL`);
  }
  type Mysql = { createConnection(options: object): Promise<Client> };
  const remedy = "npm install mysql2, and do not bundle it";
  const { createConnection } = requireModule<Mysql>("mysql2/promise", remedy);
  const address = host.startsWith("/") ? { socketPath: host } : { host, port };
  return {
    store: "mysql",
    async open() {
      const ca = server.roots === null ? undefined : readRootCertificates(server.roots);
      const options = {
        ...address,
        user: server.user ?? undefined,
        password: server.password ?? undefined,
        database: server.database ?? undefined,
        ssl: server.encrypts ? { ca, verifyIdentity: true } : undefined,
        connectTimeout: Math.min(server.connect_timeout ?? 10, 10) * 1000,
      };
      return connection(await createConnection(options).catch(rethrow));
    },
  };
}

function connection(client: Client): Connection {
  // Ignore a connection error that occurs between two statements, because the next statement reports it.
  client.on("error", () => {});
  return {
    name: null,
    async run(sql, values) {
      // Only statements with values are prepared, because some statements that begin a transaction cannot be prepared.
      const query = { sql, rowsAsArray: true };
      const [rows] = await (values.length > 0 ? client.execute(query, values) : client.query(query)).catch(rethrow);
      return Array.isArray(rows) ? rows.map((row: unknown[]) => row.map(cellOf)) : [];
    },
    // The connection of a pool returns to the pool by `end`, and leaves it by `destroy`.
    close: (isLost) => (isLost || "release" in client ? client.destroy() : client.end()),
  };
}

const cellOf = (value: unknown): Value => (typeof value === "number" || typeof value === "string" ? value : null);

/**
 * Throws an error in the form that `failureOf` reads. A server that rejects a client before sending its greeting sends no
 * SQLSTATE, so the error number determines the source of an error. Numbers from 2000 to 2999 are client errors, and numbers
 * below 1000 are operating system errors.
 */
function rethrow(error: unknown): never {
  const { errno, message } = Object(error) as Record<string, unknown>;
  if (typeof errno !== "number" || errno < 1000 || (errno >= 2000 && errno < 3000)) throw error;
  throw Object.assign(new Error(String(message), { cause: error }), { severity: "ERROR", code: String(errno) });
}
