/**
 * Reads objects from the caller: options, fields, and values by name. Errors from getters and proxies propagate.
 *
 * Unknown properties are rejected, because a misspelled option would otherwise be ignored. For example, a generator with a
 * misspelled `sequenceMin` would use different bounds than the program expects, and could repeat the IDs of another
 * generator. A Map or a Date that is passed as the options is also rejected, because it has none of the properties. Each
 * property is read once, so a getter cannot return one value to the check and another to the generator.
 */
import { isObject } from "./checks.js";
import { className, invalidType, PolyflakeError } from "./errors.js";

/**
 * Returns the named properties of the caller's object. Each property is read once. The object must be plain (from any
 * realm) or have at least one of the properties, so a Date, a Map or an array that has none of the properties is rejected.
 *
 * @throws {PolyflakeError} `invalid_type` unless the argument is such an object; `unknown_field` for a property that is not
 * in `names`, unless `others` is `"ignored"`.
 */
export function members<Name extends string>(
  value: unknown,
  field: string,
  names: readonly Name[],
  others: "rejected" | "ignored" = "rejected",
): Partial<Record<Name, unknown>> {
  const object = checkObject(value, field);
  if (!isPlain(object) && !names.some((name) => hasMember(object, name))) throw notPlainObjectError(object, field);
  if (others === "rejected") rejectUnknown(object, names);
  const given: Partial<Record<Name, unknown>> = Object.create(null);
  for (const name of names) if (!isInherited(object, name)) given[name] = (object as Record<Name, unknown>)[name];
  return given;
}

/**
 * Returns the named properties of the caller's object. All of these properties are required.
 *
 * @throws {PolyflakeError} `missing_field` if a property is missing, and any error that {@link members} throws.
 */
export function fields<Name extends string>(
  value: unknown,
  field: string,
  names: readonly Name[],
  others: "rejected" | "ignored" = "ignored",
): Partial<Record<Name, unknown>> {
  const given = members(value, field, names, others);
  const missing = names.find((name) => given[name] === undefined);
  if (missing !== undefined)
    throw new PolyflakeError("missing_field", `missing value for field \`${missing}\``, { field: missing });
  return given;
}

/**
 * Returns the names and values of all properties of the caller's object, except properties with the value undefined. If the
 * object itself is undefined, the result is empty.
 *
 * @throws {PolyflakeError} `invalid_type` if the value is an array, or an object that is not plain and has no own
 * properties.
 */
export function entries(value: unknown, field: string): [name: string, value: unknown][] {
  if (value === undefined) return [];
  const object = checkObject(value, field);
  const all = Object.entries(object);
  if (!isPlain(object) && (all.length === 0 || Symbol.iterator in object)) throw notPlainObjectError(object, field);
  return all.filter(([, member]) => member !== undefined);
}

/**
 * Returns the two elements of an array or array-like object. `what` is a plural noun that describes the elements in error
 * messages.
 */
export function checkPair(value: unknown, field: string, what: string): [unknown, unknown] {
  const { 0: first, 1: second, length } = members(value, field, ["0", "1", "length"], "ignored");
  if (length === 2) return [first, second];
  const found = typeof length === "number" ? length : className(value);
  throw new PolyflakeError("invalid_type", `expected two ${what} for \`${field}\`, found ${found}`, { field });
}

function checkObject(value: unknown, field: string): object {
  if (isObject(value)) return value;
  throw invalidType("object", value, { field });
}

function notPlainObjectError(object: object, field: string): PolyflakeError {
  return new PolyflakeError("invalid_type", `expected a plain object for \`${field}\`, found ${className(object)}`, {
    field,
  });
}

/** Rejects properties that are not in `names`. */
function rejectUnknown(object: object, names: readonly string[]): void {
  for (const name in object) {
    if (names.includes(name) || isInherited(object, name)) continue;
    const known = names.map((each) => `\`${each}\``).join(", ");
    throw new PolyflakeError("unknown_field", `unknown field \`${name}\`, expected one of ${known}`, { field: name });
  }
}

/** Returns whether an object is plain, which means that it is not an instance of a class. */
function isPlain(object: object): boolean {
  const parent: object | null = Object.getPrototypeOf(object);
  return parent === null || isObjectPrototype(parent);
}

/** Returns whether an object or its class has a property with the given name. */
function hasMember(object: object, name: string): boolean {
  const owner = findOwner(object, name);
  return owner !== null && (owner === object || !isObjectPrototype(owner));
}

/**
 * Returns whether an object inherits a property from `Object.prototype`. Properties that other code added to
 * `Object.prototype` are not options.
 */
function isInherited(object: object, name: string): boolean {
  const owner = findOwner(object, name);
  return owner !== null && owner !== object && isObjectPrototype(owner);
}

/**
 * Returns the nearest object in the prototype chain, starting with the object itself, that has an own property with the
 * given name. Returns null if no such object exists or a proxy hides it.
 */
function findOwner(object: object, name: string): object | null {
  let owner: object | null = object;
  while (owner !== null && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner) as object | null;
  return owner;
}

/** Returns whether an object is the `Object.prototype` of any realm. */
function isObjectPrototype(object: object): boolean {
  return Object.getPrototypeOf(object) === null && Object.hasOwn(object, "isPrototypeOf");
}
