import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { PolyflakeError } from "../errors.js";
import { type Connection, type Driver, requireModule } from "./driver.js";
import type { Value } from "./rules.js";

interface Notice {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/** A `pg` client. */
export interface PgClient {
  /** Executes a statement. */
  query(query: object): Promise<{ rows: unknown[][]; fields: { dataTypeID: number }[] }>;
  /** Adds a listener. */
  on(event: "error", listener: () => void): unknown;
  on(event: "notice", listener: (notice: Notice) => void): unknown;
  /** Removes a listener. */
  off?(event: string, listener: (...values: never[]) => void): unknown;
  /** Connects. */
  connect?(): Promise<unknown>;
  /** Closes the connection. */
  end?(): Promise<unknown>;
  /** The connection, which a lease closes at once after a request without a reply. */
  connection?: { stream: { destroy(): unknown } };
  /** Returns a pooled client to its pool. If `isLost` is true, the pool discards the client. */
  release?(isLost: boolean): void;
}

/** A `pg` pool. */
export interface PgPool {
  /** Returns a connected client of the pool. */
  connect(): Promise<PgClient>;
}

/**
 * The column types whose values are integers: int8, int2, int4. Other columns are strings (text, varchar, name). Any column can
 * be null.
 */
const INTEGER_TYPES = [20, 21, 23];
const TEXT_TYPES = [25, 1043, 19];

/** The settings of a server, which the lease rules parse from a URL. */
export interface Server {
  readonly hosts: readonly (readonly [host: string, port: number])[];
  readonly user: string | null;
  readonly password: string | null;
  readonly database: string | null;
  readonly encrypts: boolean;
  readonly roots: string | null;
  /** Whether a host is used only if it accepts writes. */
  readonly read_write: boolean;
  readonly connect_timeout: number | null;
  readonly application_name: string;
  readonly options: string | null;
}

/**
 * Creates a PostgreSQL store from a server, a pool, or a function that resolves to a connected client. Each request uses a
 * separate client.
 */
export function postgresql(source: Server | PgPool | (() => Promise<PgClient>)): Driver {
  const connect = typeof source === "function" ? source : "hosts" in source ? fromServer(source) : fromPool(source);
  return { store: "postgresql", open: async () => connection(await connect()) };
}

const fromPool = (pool: PgPool) => () => pool.connect();

/** Returns a function that connects to the first host that accepts writes. */
function fromServer(server: Server): () => Promise<PgClient> {
  type Pg = { Client: new (options: object) => PgClient };
  const { Client } = requireModule<Pg>(
    "pg",
    "npm install pg, and in a bundle import polyflake/lease/pg, or pass a pool: lease(pool, namespace)",
  );
  return async () => {
    let cause: unknown;
    const ca = server.roots === null ? undefined : readRootCertificates(server.roots);
    for (const [host, port] of server.hosts) {
      const client = new Client({
        host,
        port,
        user: server.user ?? undefined,
        password: server.password ?? undefined,
        database: server.database ?? undefined,
        ssl: server.encrypts && { ca },
        application_name: server.application_name,
        options: server.options ?? undefined,
        connectionTimeoutMillis: Math.min(server.connect_timeout ?? 10, 10) * 1000,
      });
      client.on("error", ignoreError);
      try {
        await client.connect!();
        if (!server.read_write || (await acceptsWrites(client))) return client;
        cause = new Error(`${host} does not accept writes`);
      } catch (error) {
        cause = error;
      }
      await client.end!().catch(ignoreError);
    }
    throw cause;
  };
}

/**
 * Reads a file of root certificates.
 *
 * @throws {PolyflakeError} `out_of_range` if the file cannot be read or contains no certificate. This code means that retrying
 * does not help.
 */
export function readRootCertificates(file: string): string {
  try {
    const text = readFileSync(file, "utf8");
    new X509Certificate(text);
    return text;
  } catch (cause) {
    const reason = `cannot read the root certificates in ${file} (\`sslrootcert\`): ${(cause as Error).message}`;
    throw new PolyflakeError("out_of_range", reason, { cause });
  }
}

async function acceptsWrites(client: PgClient): Promise<boolean> {
  const { rows } = await client.query({ text: "SHOW transaction_read_only", rowMode: "array" });
  return rows[0]?.[0] === "off";
}

/** Ignores a connection error that occurs between two statements, because the next statement reports it. */
const ignoreError = (): void => {};

function connection(client: PgClient): Connection {
  const notices: { code: string | null; message: string }[] = [];
  const note = ({ code, message }: Notice): void => {
    notices.push({ code: code ?? null, message: message ?? "a notice" });
  };
  client.on("error", ignoreError);
  client.on("notice", note);
  return {
    name: null,
    notices,
    async run(text, values) {
      // With these parsers, all values arrive as strings, regardless of the parsers that the program has set for its
      // own queries.
      const types = { getTypeParser: () => (value: string) => value };
      const { rows = [], fields = [] } = await client.query({ text, values, rowMode: "array", types });
      return rows.map((row) => row.map((value, k) => cellOf(value, fields[k]!.dataTypeID)));
    },
    close(isLost) {
      // Other code will use a pooled client afterwards, so remove these listeners.
      client.off?.("error", ignoreError);
      client.off?.("notice", note);
      if (client.release) return client.release(isLost);
      // A connection may emit an error while it is being closed. Without a listener, that error would terminate the
      // process.
      client.on("error", ignoreError);
      return isLost ? client.connection?.stream.destroy() : client.end?.().catch(ignoreError);
    },
  };
}

function cellOf(value: unknown, type: number): Value {
  if (typeof value !== "string") return null;
  if (INTEGER_TYPES.includes(type)) return Number(value);
  return TEXT_TYPES.includes(type) ? value : null;
}
