import { type Connection, type Driver, requireModule } from "./driver.js";
import { readRootCertificates, type Server } from "./postgresql.js";
import type { Value } from "./rules.js";

/** An ioredis or node-redis client. A lease opens separate connections with the client's settings. */
export interface RedisClient {
  /** Returns a client with the same settings, except for those in `options`. */
  duplicate(options: object): unknown;
}

/** A client with one connection. ioredis sends commands with `call`, and node-redis with `sendCommand`. */
interface Client {
  call?(...command: string[]): Promise<unknown>;
  sendCommand(command: string[]): Promise<unknown>;
  connect(): Promise<unknown>;
  on(event: "error", listener: (error: unknown) => void): unknown;
  disconnect(): unknown;
}

interface Settings {
  readonly db?: number;
  readonly socket?: object;
}

/**
 * The ioredis options that a lease requires. A command whose reply was lost must not be sent again, so reconnecting is
 * disabled. All programs must use the same keys, so no prefix is added. The driver selects the database itself, because
 * ioredis would continue in database 0 if it could not select another database.
 */
const IOREDIS_OPTIONS = {
  lazyConnect: true,
  enableReadyCheck: false,
  retryStrategy: null,
  reconnectOnError: null,
  keyPrefix: "",
  db: 0,
};

/**
 * Creates a Redis or Valkey store from the server settings in a URL, or from a client. Each request uses a separate
 * connection.
 */
export function redis(source: Server | RedisClient): Driver {
  const create = "hosts" in source ? createClientFactory(source) : () => duplicateClient(source);
  return {
    store: "redis",
    async open() {
      const [client, database] = create();
      let reason: unknown;
      // ioredis reports the reason for a failed connection only through an event.
      client.on("error", (error) => {
        reason ??= error;
      });
      try {
        await client.connect();
        if (database > 0) await send(client, ["SELECT", String(database)]);
      } catch (error) {
        // node-redis may throw if it is not connected.
        const close = async () => client.disconnect();
        await close().catch(() => {});
        rethrow(reason ?? error);
      }
      return connection(client);
    },
  };
}

/**
 * Returns a function that creates a client from the server settings in a URL. The function returns the client together with
 * the number of the database that the driver must select.
 */
function createClientFactory(server: Server): () => [client: Client, database: number] {
  const [host, port] = server.hosts[0]!;
  const database = Number(server.database);
  const address = host.startsWith("/") ? { path: host } : { host, port };
  const credentials = { username: server.user ?? undefined, password: server.password ?? undefined };
  const connectTimeout = Math.min(server.connect_timeout ?? 10, 10) * 1000;
  const library = loadClient();
  return () => {
    const ca = server.roots === null ? undefined : readRootCertificates(server.roots);
    // The ioredis class also has a function named `createClient`.
    if ("Redis" in library) {
      const tls = server.encrypts ? { ca } : undefined;
      return [new library.Redis({ ...IOREDIS_OPTIONS, ...address, ...credentials, tls, connectTimeout }), database];
    }
    const socket = { ...address, tls: server.encrypts, ca, connectTimeout, reconnectStrategy: false };
    return [library.createClient({ ...credentials, socket }), database];
  };
}

type Library = { createClient(options: object): Client } | { Redis: new (options: object) => Client };

function loadClient(): Library {
  const remedy = "npm install ioredis, or redis, and do not bundle it; or pass a client: lease(client, namespace)";
  try {
    return requireModule<Library>("ioredis", remedy);
  } catch {
    return requireModule<Library>("redis", remedy);
  }
}

function duplicateClient(client: RedisClient): [client: Client, database: number] {
  const settings: Settings = Reflect.get(client, "options");
  if ("call" in client) return [client.duplicate(IOREDIS_OPTIONS) as Client, settings.db ?? 0];
  // node-redis selects the database itself, and fails to connect if it cannot.
  return [client.duplicate({ socket: { ...settings.socket, reconnectStrategy: false } }) as Client, 0];
}

function connection(client: Client): Connection {
  return {
    name: null,
    async run(script, values) {
      const reply = await send(client, ["EVAL", script, ...values.map(String)]).catch(rethrow);
      return [rowOf(reply)];
    },
    close: () => client.disconnect(),
  };
}

const send = (client: Client, command: string[]): Promise<unknown> =>
  client.call ? client.call(...command) : client.sendCommand(command);

/** Returns the strings of the script's reply. */
const rowOf = (reply: unknown): Value[] =>
  (reply as unknown[]).map((value) => (typeof value === "string" ? value : null));

/**
 * Throws an error in the form that `failureOf` reads. In both clients, the message of a server error begins with the error
 * code.
 */
function rethrow(error: unknown): never {
  const { code, message } = Object(error) as Record<string, unknown>;
  const found = code === undefined && /^([A-Z]+) /.exec(String(message));
  if (!found) throw error;
  throw Object.assign(new Error(String(message), { cause: error }), { severity: "ERROR", code: found[1] });
}
