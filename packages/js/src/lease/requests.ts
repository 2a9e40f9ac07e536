/** Parses the requests that leases send, which are in canonical JSON (docs/leases.md), and rejects anything else. */
import { FORMATS } from "./formats.js";

/** A record of a worker ID. The fields are in canonical order. */
export type LeaseRecord = {
  count: number;
  first: number;
  format: number;
  granted_until: number;
  holder: string;
  incarnation: string;
  start: number;
  token: string;
  version: number;
};

/** A record of a namespace, with the fields that a store reads. */
export type Namespace = { incarnation: string; namespace: string; records: number; store: string; version: number };

/** A request. */
export type Operation = { namespace: string; number: number } & (
  | { ask: "open"; new: Namespace }
  | { ask: "find"; limit: number }
  | { ask: "read"; first: number }
  | { ask: "put"; new: LeaseRecord; old: LeaseRecord }
  | { ask: "put_namespace"; count: number; first: number; new: Namespace; old: Namespace }
  | { ask: "survey" | "list" }
);

/** The maximum length of a request, in UTF-16 code units. */
export const MAX_REQUEST_LENGTH = 64 << 10;

/**
 * The maximum number of records that a `find` request can return. Holders request eight records. Only operator commands
 * request all records.
 */
const MAX_RECORDS = 64;

/**
 * The maximum number of records that one request creates. It is large enough for the highest worker ID that a holder may
 * prefer.
 */
const MAX_NEW_RECORDS = 1 << 20;

/** The reason why a request is invalid, as an error code and a message. */
export class Violation {
  constructor(
    readonly message: string,
    readonly code: "invalid_request" | "out_of_range" = "invalid_request",
  ) {}
}

type Check = (value: unknown) => boolean;
type Fields = { readonly [key: string]: Check };

const integer: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const positive: Check = (value) => integer(value) && value !== 0;
const one: Check = (value) => value === 1;
const randomHex: Check = (value) => typeof value === "string" && /^[0-9a-f]{32}$/.test(value);
const digest: Check = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const text =
  (bytes: number): Check =>
  (value) =>
    typeof value === "string" && !/[\p{Cc}\p{Cs}]/u.test(value) && new TextEncoder().encode(value).length <= bytes;

/** Returns whether a value is a valid name of a namespace. */
export const isNamespace = (value: unknown): value is string =>
  typeof value === "string" && /^[A-Za-z0-9][A-Za-z0-9-_./]{0,63}$/.test(value);

const RECORD = objectCheck({
  count: positive,
  first: integer,
  format: one,
  granted_until: integer,
  holder: text(200),
  incarnation: randomHex,
  start: integer,
  token: randomHex,
  version: positive,
});

const NAMESPACE = objectCheck({
  digest,
  format: one,
  incarnation: randomHex,
  longest_ms: integer,
  namespace: isNamespace,
  previous_quiet_until: integer,
  previous_store: text(200),
  quiet_until: integer,
  records: integer,
  shape: text(MAX_REQUEST_LENGTH),
  store: text(200),
  version: positive,
});

/** The fields of each request, except the fields that all requests have. */
const REQUEST_FIELDS: { readonly [ask: string]: Fields } = {
  open: { new: NAMESPACE },
  find: { limit: integer },
  read: { first: integer },
  put: { new: RECORD, old: RECORD },
  put_namespace: { count: positive, first: integer, new: NAMESPACE, old: NAMESPACE },
  survey: {},
  list: {},
};

/**
 * Returns a function that checks whether a value is an object with exactly the given fields, in the given order and with
 * valid values.
 */
function objectCheck(fields: Fields): Check {
  const keys = Object.keys(fields);
  return (value) => {
    if (typeof value !== "object" || value === null || Object.keys(value).join() !== keys.join()) return false;
    return keys.every((key) => fields[key]!(Reflect.get(value, key)));
  };
}

/** Parses the body of a request. Returns the request, or the reason why the body is invalid. */
export function parse(body: string): Operation | Violation {
  const asked = parseCanonical(body);
  const own = Object.hasOwn(REQUEST_FIELDS, String(asked?.ask)) ? REQUEST_FIELDS[String(asked?.ask)]! : undefined;
  if (!asked || !own) return new Violation("expected one of the seven requests in canonical JSON");
  const fields = { ask: () => true, namespace: isNamespace, number: integer, ...own };
  if (!objectCheck(sortKeys(fields))(asked))
    return new Violation(`expected valid fields of the request \`${asked.ask}\``);
  return findViolation(asked as { [key: string]: Partial<Namespace & LeaseRecord> }) ?? (asked as unknown as Operation);
}

/** Returns an error if the fields of a request contradict each other or exceed a limit. */
function findViolation({
  namespace,
  limit,
  old,
  new: next,
}: {
  [key: string]: Partial<Namespace & LeaseRecord>;
}): Violation | undefined {
  const records = [old, next];
  if (records.some((record) => record?.namespace !== undefined && (record.namespace as unknown) !== namespace))
    return new Violation("expected records of the request's namespace, found another one");
  if (records.some((record) => Number(record?.start) > Number(record?.granted_until)))
    return new Violation("expected an end that is not before the start");
  if (Number(next?.records) - Number(old?.records) > MAX_NEW_RECORDS)
    return new Violation(`expected at most ${MAX_NEW_RECORDS} new records`, "out_of_range");
  if (Number(limit) > MAX_RECORDS) return new Violation(`expected a limit of at most ${MAX_RECORDS}`, "out_of_range");
  return undefined;
}

/** Returns an object with the same fields, sorted by name in ASCII order, as in canonical JSON. */
export function sortKeys<V>(fields: { readonly [key: string]: V }): { [key: string]: V } {
  return Object.fromEntries(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Parses an object in canonical JSON. Returns undefined for any other string. */
function parseCanonical(body: string): { [key: string]: unknown } | undefined {
  try {
    const value = JSON.parse(body);
    return typeof value === "object" && value !== null && JSON.stringify(value) === body ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns whether a token for the namespace `owner` grants access to a given namespace. A token for `orders` also grants
 * access to `orders/sno`.
 */
export function permits(owner: string | null, namespace: string): boolean {
  if (owner === null || owner === namespace) return true;
  return FORMATS.some((format) => namespace === `${owner}/${format}`);
}

/**
 * Returns the name of the Durable Object that stores a namespace: the namespace's name without the ID formats at its end.
 * The object of `orders` therefore stores `orders/sno` for every token that permits it, so that no two objects can grant
 * the same worker ID of one namespace.
 */
export function objectName(namespace: string): string {
  const format = FORMATS.find((format) => namespace.endsWith(`/${format}`));
  return format ? objectName(namespace.slice(0, -format.length - 1)) : namespace;
}
