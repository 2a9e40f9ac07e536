import { PolyflakeError } from "../errors.js";
import type { Connection, Driver } from "./driver.js";
import type { Server } from "./postgresql.js";
import type { Value } from "./rules.js";

/** The maximum size of a response, in bytes. A response contains at most 64 records. */
const MAX_RESPONSE_BYTES = 1 << 20;

/**
 * Creates a store that uses `fetch` to send requests to a service that was started with `polyflake lease serve`. Each
 * statement is sent as the body of a request, and the response becomes the statement's only row.
 *
 * @throws {PolyflakeError} `out_of_range` for a file of root certificates, because `fetch` trusts only the root
 * certificates of the runtime.
 */
export function http(server: Server): Driver {
  if (server.roots !== null) {
    const remedy = "set NODE_EXTRA_CA_CERTS, or DENO_CERT in Deno, to the file";
    const expected = "expected no `sslrootcert`, because fetch trusts the certificates of the runtime";
    throw new PolyflakeError("out_of_range", `${expected}: ${remedy}`);
  }
  const [host, port] = server.hosts[0]!;
  const name = host.includes(":") ? `[${host}]` : host;
  const url = `${server.encrypts ? "https" : "http"}://${name}:${port}/v1/request`;
  const authorization = `Bearer ${server.password}`;
  return { store: "http", open: () => connection(fetch, url, { authorization }) };
}

/** The function that sends a request: the runtime's `fetch`, or the `fetch` method of a binding in a Worker. */
export type Fetch = (url: string, options: RequestInit) => Promise<Response>;

/** Returns a connection that adds the headers in `own` to each request. */
export function connection(send: Fetch, url: string, own: Record<string, string>): Connection {
  const aborter = new AbortController();
  /**
   * The identifier of the service's connection to its store, if the next request must be processed over the same
   * connection; otherwise null.
   */
  let keptConnection: string | null = null;
  return {
    name: null,
    async run(body, [keeps, value]) {
      const headers = { ...own, "content-type": "application/json", "polyflake-request": String(value) };
      const allHeaders = keptConnection === null ? headers : { ...headers, "polyflake-connection": keptConnection };
      keptConnection = null;
      const options = {
        method: "POST",
        headers: allHeaders,
        body,
        redirect: "manual",
        signal: aborter.signal,
      } as const;
      const response = await send(url, options).catch(rethrow);
      if (keeps === 1) keptConnection = response.headers.get("polyflake-connection");
      const row: Value[] = [response.status, await textOf(response), response.headers.get("polyflake-request")];
      return [row];
    },
    close: () => aborter.abort(),
  };
}

async function textOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let [text, length] = ["", 0];
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MAX_RESPONSE_BYTES) throw new Error("expected a response of at most 1 MiB");
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

/** Throws the cause of an error from `fetch`, because the message of the error itself states only that `fetch` failed. */
function rethrow(error: unknown): never {
  throw Object(error).cause ?? error;
}
