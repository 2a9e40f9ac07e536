/**
 * Reads and writes JSON objects. The metabyte of an object's sno ID determines its type.
 *
 * JSON does not record the class of an object, so programs that read several kinds of objects usually add a member such as
 * `"type"` to each object. A sno ID already contains a type tag, the metabyte, so the ID alone determines the class or
 * function that creates an object.
 *
 * Objects are converted from the inside out: a kind receives members that have already been converted. A reviver of
 * `JSON.parse` works in the same order. However, a reviver is called for every value, including strings and numbers, so
 * that parsing takes four times as long. `revive` therefore walks the parsed value once, and replaces only objects.
 */
import { checkString, isObject as isAnyObject } from "../checks.js";
import { isValid, metabyte } from "../decode/sno.js";
import { invalidType, PolyflakeError } from "../errors.js";
import { checkMetabyte, checkMetabytes } from "../metabytes.js";
import { MAX_LEVELS } from "./levels.js";

/**
 * A kind of object: a class whose constructor accepts an object's members, or a function that converts the members to an
 * object.
 */
export type Kind = (new (members: AnyMembers) => unknown) | ((members: AnyMembers) => unknown);

/** The type of the object that a kind creates. */
export type Made<K> = K extends new (
  members: AnyMembers,
) => infer T
  ? T
  : K extends (members: AnyMembers) => infer T
    ? T
    : never;

/**
 * A kind whose function does not declare a type for its parameter. The members are typed as `unknown`, because the compiler
 * then preserves the function's return type.
 */
type UntypedKind = (new (members: AnyMembers) => unknown) | { call(members: Record<string, unknown>): unknown }["call"];

/** The type of the members that are passed to a kind. */
// biome-ignore lint/suspicious/noExplicitAny: parameters are contravariant, so no other type accepts the functions of all kinds.
type AnyMembers = any;

/** Functions that read and write objects of type `T` as JSON. */
export interface ByMetabyte<T> {
  /**
   * A reviver for `JSON.parse` that converts each object to the kind that its ID indicates, starting with the innermost
   * objects. An object remains unchanged if it has no ID or if no kind has the ID's metabyte.
   *
   * @throws {PolyflakeError} `unknown_field` if an object has a member `__proto__`, or a member `constructor` with a member
   * `prototype`. With such members, JSON could replace the class of an object whose constructor assigns all members.
   */
  readonly reviver: (key: string, value: unknown) => unknown;
  /**
   * Converts each object in a value from `JSON.parse` or `response.json()` to the kind that its ID indicates. It works in
   * place, starting with the innermost objects, and returns the outermost value with a type of your choice:
   * `revive<User[]>(value)`.
   *
   * The result is the same as with `reviver`, but this function takes a quarter of the time, because engines parse slowly with
   * a reviver.
   *
   * @throws {PolyflakeError} `invalid_type` if an object contains itself, if more than 1,000 objects are nested, or if a member
   * of a frozen object would have to change; `unknown_field` in the same cases as {@link ByMetabyte.reviver}.
   */
  readonly revive: <R = unknown>(value: unknown) => R;
  /**
   * Converts an object to the kind that its ID indicates.
   *
   * @throws {PolyflakeError} `invalid_type` unless the argument is an object; `missing_field` if the object has no ID;
   * `invalid_type`, `invalid_length` or `invalid_character` if its ID is invalid; `out_of_range` if no kind has the ID's
   * metabyte; `unknown_field` in the same cases as {@link ByMetabyte.reviver}.
   */
  readonly decode: (members: unknown) => T;
  /**
   * Parses a JSON string that contains an object, and returns the object. Nested objects are converted to their kinds, too.
   *
   * @throws {PolyflakeError} the same errors as {@link ByMetabyte.decode} and {@link ByMetabyte.revive}; errors from
   * `JSON.parse` and from the kinds propagate.
   */
  readonly parse: (json: string) => T;
  /**
   * Parses a JSON string that contains an array, and returns the objects in the array.
   *
   * @throws {PolyflakeError} the same errors as {@link ByMetabyte.parse}; `invalid_type` if the string does not contain an
   * array.
   */
  readonly parseMany: (json: string) => T[];
  /**
   * Returns an object as a JSON string.
   *
   * @throws {PolyflakeError} the same errors as {@link ByMetabyte.decode}; `invalid_type` if an object's class does not match
   * its ID, or if an object contains itself. Other errors from `JSON.stringify` propagate.
   */
  readonly stringify: (object: T) => string;
}

interface Entry {
  readonly make: (members: object) => unknown;
  readonly has: (object: object) => boolean;
}

/**
 * Returns functions that read and write objects as JSON. The metabyte of an object's ID determines the object's type, so the
 * JSON needs no separate member for the type. The type `T` of the result is the union of the types that the kinds create.
 *
 * ```js
 * const records = byMetabyte({ 24: User, 25: Order });
 * records.parse('{"id": "9aaaaaaa55aaaaaa", "foo": "bar", "baz": "bar"}'); // a User
 * records.revive(JSON.parse(text)); // any value, with users and orders in it
 * ```
 *
 * A kind is a class or a function. It receives the object's parsed members. Apart from nested objects, the values of the
 * members are not converted.
 *
 * @param kinds An object that maps metabytes (0..255) to kinds.
 * @param name The member that holds the ID.
 * @throws {PolyflakeError} `invalid_type` if a kind is invalid; `out_of_range` if a metabyte is invalid or there are no kinds.
 */
export function byMetabyte<const K extends { readonly [metabyte: number]: UntypedKind }>(
  kinds: K,
  name?: string,
): ByMetabyte<Made<K[keyof K]>>;
/**
 * Returns functions that read and write objects as JSON. This overload is for kinds whose functions declare the type of their
 * parameter as an `interface`, not as a type alias.
 */
export function byMetabyte<const K extends { readonly [metabyte: number]: Kind }>(
  kinds: K,
  name?: string,
): ByMetabyte<Made<K[keyof K]>>;
export function byMetabyte<const K extends { readonly [metabyte: number]: Kind }>(
  kinds: K,
  name = "id",
): ByMetabyte<Made<K[keyof K]>> {
  type T = Made<K[keyof K]>;
  checkString(name, "name");
  if (!isObject(kinds)) throw invalidType("object", kinds, { field: "kinds" });
  const entries = new Map(Object.entries(kinds).map(([key, kind]) => [metabyteOf(key), createEntry(kind)]));
  const entryFor = entryFinder(entries, name);
  const reviver = (_key: string, value: unknown): unknown => {
    if (!isObject(value)) return value;
    rejectPrototypes(value);
    const id = value[name];
    const entry = isValid(id) ? entries.get(metabyte(id)) : undefined;
    return entry ? entry.make(value) : value;
  };
  const revive = <R>(value: unknown): R => (isObject(value) ? reviveMembers(value, reviver, 1) : value) as R;

  return {
    reviver,
    revive,
    decode: (members) => {
      const entry = entryFor(members);
      rejectPrototypes(members as Members);
      return entry.make(members as object) as T;
    },
    parse: (json) => {
      const value: unknown = JSON.parse(json);
      if (Array.isArray(value)) throw invalidObjectError("an object, found a list: use `parseMany`");
      entryFor(value);
      return revive(value);
    },
    parseMany: (json) => {
      const values: unknown = JSON.parse(json);
      if (!Array.isArray(values))
        throw invalidObjectError("a list of objects, found another value: use `parse` for one object");
      values.forEach(entryFor);
      return revive(values);
    },
    stringify: (object) => {
      if (entryFor(object).has(object as object)) return stringify(object);
      throw new PolyflakeError(
        "invalid_type",
        `expected an object of the class that its \`${name}\` says, found another`,
        { field: name },
      );
    },
  };
}

/** Returns a function that finds the entry for an object by the metabyte of its ID, and throws an error if no entry exists. */
function entryFinder(entries: ReadonlyMap<number, Entry>, name: string): (members: unknown) => Entry {
  const wanted = checkMetabytes([...entries.keys()], "metabyte");
  return (members) => {
    if (!isObject(members)) throw invalidType("object", members);
    const id = members[name];
    if (id === undefined)
      throw new PolyflakeError("missing_field", `missing value for field \`${name}\``, { field: name });
    return entries.get(checkMetabyte(wanted, id, name))!;
  };
}

type Reviver = ByMetabyte<unknown>["reviver"];

/** Converts the objects within `value` from the innermost to the outermost, and returns the converted value. */
function reviveMembers(value: Members, reviver: Reviver, level: number): unknown {
  if (level > MAX_LEVELS)
    throw invalidObjectError(`at most ${MAX_LEVELS} levels of objects, found more or an object that holds itself`);
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (!isObject(member)) continue;
    const made = reviveMembers(member, reviver, level + 1);
    if (made !== member && !Reflect.set(value, key, made))
      throw invalidObjectError("an object that can be changed, found a frozen one");
  }
  return reviver("", value);
}

/**
 * Throws if an object has an own member `__proto__`, or an own member `constructor` with a member `prototype`.
 *
 * `JSON.parse` creates such members like all others, but an assignment of `__proto__` sets the prototype. A constructor
 * with `Object.assign(this, members)` would therefore let the sender of the JSON replace the object's class.
 */
function rejectPrototypes(value: Members): void {
  if (Object.hasOwn(value, "__proto__")) throw prototypeError("__proto__");
  if (!Object.hasOwn(value, "constructor")) return;
  const member = value.constructor as unknown;
  if (isObject(member) && Object.hasOwn(member, "prototype")) throw prototypeError("constructor");
}

function prototypeError(field: "__proto__" | "constructor"): PolyflakeError {
  const member = field === "constructor" ? "constructor.prototype" : field;
  const message = `expected members that do not change an object's prototype, found \`${member}\``;
  return new PolyflakeError("unknown_field", message, { field });
}

type Members = Record<string, unknown>;

const isObject = isAnyObject as (value: unknown) => value is Members;

function invalidObjectError(expectedAndFound: string): PolyflakeError {
  return new PolyflakeError("invalid_type", `expected ${expectedAndFound}`);
}

/**
 * Returns an object as a JSON string. The function checks whether the object contains itself only if `JSON.stringify` fails.
 */
function stringify(object: unknown): string {
  try {
    return JSON.stringify(object);
  } catch (failure) {
    if (failure instanceof TypeError) JSON.stringify(object, cycleRejectingReplacer());
    throw failure;
  }
}

/** Returns a replacer that rejects an object that contains itself. */
function cycleRejectingReplacer(): (this: unknown, key: string, value: unknown) => unknown {
  const ancestors: unknown[] = [];
  return function (_key, value) {
    while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
    if (ancestors.includes(value)) throw invalidObjectError("an object for JSON, found one that holds itself");
    if (isObject(value)) ancestors.push(value);
    return value;
  };
}

/** Returns the metabyte that a key represents. The range of the metabyte is checked later. */
function metabyteOf(key: string): number {
  const metabyte = Number(key);
  if (String(metabyte) === key && Number.isInteger(metabyte)) return metabyte;
  throw new PolyflakeError("invalid_type", `expected metabytes as keys of \`kinds\`, found ${key.slice(0, 40)}`, {
    field: "kinds",
  });
}

function createEntry(kind: unknown): Entry {
  if (typeof kind !== "function") throw invalidType("class or function", kind, { field: "kinds" });
  // The `prototype` property of a class is read-only, unlike that of a function.
  if (Object.getOwnPropertyDescriptor(kind, "prototype")?.writable !== false)
    return { make: kind as Entry["make"], has: () => true };
  return {
    make: (members) => new (kind as new (members: object) => unknown)(members),
    has: (object) => object instanceof kind,
  };
}
