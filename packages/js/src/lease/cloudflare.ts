/**
 * Leases of worker IDs in Cloudflare Workers. A Durable Object stores the leases, and Workers and other programs lease
 * worker IDs from it. In Node, this module is for unit tests of a Worker, with a binding and a storage that the test provides.
 *
 * @module
 */
import { newRules } from "#rules";
import { checkInteger, checkString } from "../checks.js";
import { invalidType, PolyflakeError } from "../errors.js";
import { checkPair, members } from "../members.js";
import type { Driver } from "./driver.js";
import { errorResponse, type HttpRequest, type HttpResponse, NAMESPACE_HEADER } from "./durable-object.js";
import { connection, type Fetch, http } from "./http.js";
import type { LeaseEvent, LeaseOptions } from "./lease.js";
import type { Server } from "./postgresql.js";
import { MAX_REQUEST_LENGTH, objectName } from "./requests.js";
import { parseTokens } from "./tokens.js";
import { WorkerLease } from "./worker.js";

export { PolyflakeError } from "../errors.js";
export { type HttpRequest, type HttpResponse, LeaseStore, type ObjectState } from "./durable-object.js";
export type { LeaseEvent, LeaseStatus } from "./lease.js";
export type { Context, WorkerLease } from "./worker.js";

/** The binding of the Durable Objects, such as `env.LEASES`. */
export interface Objects {
  /** Returns the ID of the object with a name. */
  idFromName(name: string): unknown;
  /** Returns a stub of the object with an ID. */
  get(id: never): { fetch(url: string, options: never): Promise<unknown> };
}

/** Options for a lease in a Worker. They have the same meaning as in `polyflake/lease`. */
export type WorkerLeaseOptions = Pick<LeaseOptions, "workerIds" | "leaseMs" | "renewMs" | "holder" | "waitMs"> & {
  watch?: (event: LeaseEvent) => void;
};

const OPTIONS = ["workerIds", "leaseMs", "renewMs", "holder", "waitMs", "watch"] as const;

/**
 * The URL of requests that are sent through the binding. The binding delivers each request directly to the Durable Object,
 * so the host in the URL does not need to exist.
 */
const BINDING_URL = "https://leases/v1/request";

/**
 * Creates a lease on a worker ID in a namespace. Create the lease and its generator once, outside the request handlers.
 *
 * @param source The binding of the Durable Objects, or the URL of a service (`https://TOKEN@HOST`).
 * @throws {PolyflakeError} `out_of_range` if the URL or the namespace is invalid; `invalid_type` or `unknown_field` if an
 * option is invalid.
 */
export function lease(source: Objects | string, namespace: string, options: WorkerLeaseOptions = {}): WorkerLease {
  const own = checkWorkerOptions(options);
  const rules = newRules();
  if (typeof source !== "string") {
    const driver = createObjectDriver(source, checkString(namespace, "namespace"));
    return new WorkerLease(rules, driver, namespace, own, {});
  }
  const found = rules.ask("lease_url", { url: source, namespace }) as Terms & { store: string; server: Server };
  if (found.store !== "http")
    throw new PolyflakeError(
      "out_of_range",
      "expected the URL of a service, `https://TOKEN@HOST`, found another store",
    );
  const { store_name, lease_ms, renew_ms, worker_ids, wait_ms } = found;
  return new WorkerLease(rules, http(found.server), found.namespace, own, {
    store_name,
    lease_ms,
    renew_ms,
    worker_ids,
    wait_ms,
  });
}

type Terms = { [name in "store_name" | "lease_ms" | "renew_ms" | "worker_ids" | "wait_ms"]: unknown } & {
  namespace: string;
};

function checkWorkerOptions(options: unknown): WorkerLeaseOptions {
  const given = members(options, "options", OPTIONS);
  for (const name of ["leaseMs", "renewMs", "waitMs"] as const)
    if (given[name] !== undefined) checkInteger(given[name], name);
  if (given.workerIds !== undefined) checkPair(given.workerIds, "workerIds", "integers");
  if (given.watch !== undefined && typeof given.watch !== "function")
    throw invalidType("function", given.watch, { field: "watch" });
  return given as WorkerLeaseOptions;
}

/**
 * Returns a driver for the Durable Object that stores a namespace. A stub belongs to the request that creates it, so each
 * connection creates its own stub.
 */
function createObjectDriver(objects: Objects, namespace: string): Driver {
  checkBinding(objects, "source", "binding of Durable Objects or URL of a service");
  const open = () => {
    const stub = getStub(objects, namespace);
    return connection((url, options) => stub.fetch(url, options), BINDING_URL, {});
  };
  return { store: "http", open };
}

function checkBinding(objects: unknown, field: string, expected: string): void {
  if (typeof Object(objects).idFromName !== "function") throw invalidType(expected, objects, { field });
}

function getStub(objects: Objects, namespace: string): { fetch: Fetch } {
  return objects.get(objects.idFromName(objectName(namespace)) as never) as { fetch: Fetch };
}

/**
 * Answers the requests of other programs, which lease from the same Durable Objects with `https://TOKEN@HOST`. Returns
 * undefined for a request to any path other than `/v1/request`.
 *
 * If the tokens are missing or invalid, the answer has status 503 and the code `invalid_secret`, because no request can be
 * permitted. The message states the reason and contains no token.
 *
 * @param tokens The tokens, as a string with a line `NAMESPACE TOKEN` for each token. `polyflake lease serve` uses the same
 * format. Store this string as the secret `POLYFLAKE_TOKENS`.
 * @throws {PolyflakeError} `invalid_type` if `objects` is not a binding.
 */
export async function serve(request: HttpRequest, objects: Objects, tokens: string): Promise<HttpResponse | undefined> {
  if (new URL(request.url).pathname !== "/v1/request") return undefined;
  checkBinding(objects, "objects", "binding of Durable Objects");
  const namespaces = parseTokens(tokens);
  if (typeof namespaces === "string")
    return errorResponse(503, "invalid_secret", `cannot read the tokens in POLYFLAKE_TOKENS: ${namespaces}`);
  if (request.method !== "POST") return errorResponse(405, "method_not_allowed", "expected the method POST");
  const token = /^bearer (.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
  const namespace = await findNamespace(token, namespaces);
  if (namespace === undefined)
    return errorResponse(
      401,
      "unauthorized",
      "expected the token of a namespace in the header `Authorization: Bearer TOKEN`",
    );
  const body = await request.text();
  if (body.length > MAX_REQUEST_LENGTH)
    return errorResponse(413, "body_too_large", `expected at most ${MAX_REQUEST_LENGTH} bytes`);
  const headers = new Headers({ [NAMESPACE_HEADER]: namespace });
  for (const name of ["polyflake-connection", "polyflake-request"]) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return getStub(objects, namespace).fetch(BINDING_URL, { method: "POST", headers, body });
}

/**
 * Returns the namespace of a token, or undefined if the token is unknown. Digests are compared instead of the tokens
 * themselves, so that the duration of the comparison reveals nothing about a token.
 */
async function findNamespace(token: string, namespaces: ReadonlyMap<string, string>): Promise<string | undefined> {
  const digest = await computeDigest(token);
  let found: string | undefined;
  for (const [own, namespace] of namespaces) if ((await computeDigest(own)) === digest) found = namespace;
  return found;
}

async function computeDigest(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).join();
}
