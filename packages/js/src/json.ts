/**
 * JSON of several kinds of objects, which the metabytes of their sno IDs tell apart, and of figures. Plain JavaScript, without wasm.
 *
 * @module
 */
import { within } from "./decode/checks.js";
import { isValid, metabyte } from "./decode/sno.js";
import { wordsOf } from "./decode/words.js";
import { invalidType, PolyflakeError } from "./errors.js";

export type { Description, FieldDescription } from "./describe.js";
export { type ErrorCode, PolyflakeError } from "./errors.js";
export { descriptionFromJson } from "./figures.js";

/** A kind of object: a class that is made of an object's members, or a function that gives what they stand for. */
export type Kind = (new (members: any) => unknown) | ((members: any) => unknown);

/** What a kind makes of members. */
export type Made<K> = K extends new (members: any) => infer T ? T : K extends (members: any) => infer T ? T : never;

/** Reads and writes JSON of objects `T`. */
export interface ByMetabyte<T> {
  /**
   * For `JSON.parse`: makes each object in a text what its ID says, the innermost first. What has no ID of one of the kinds stays as
   * it is.
   */
  readonly reviver: (key: string, value: unknown) => unknown;
  /**
   * Makes each object in a value that `JSON.parse` gave (or `response.json()`) what its ID says, the innermost first, in place; the result takes the place
   * of the outermost. It is what `reviver` does, in a quarter of the time: engines parse slowly for revivers.
   */
  readonly revive: (value: unknown) => unknown;
  /**
   * Makes an object what its ID says.
   *
   * @throws {PolyflakeError} `invalid_type` for other than an object; `missing_field` without an ID; `invalid_length`, `invalid_character` for a wrong one;
   * `out_of_range` for an ID of no kind.
   */
  readonly decode: (members: unknown) => T;
  /**
   * The object of a JSON text; those within it are made, too.
   *
   * @throws {PolyflakeError} as {@link ByMetabyte.decode}; what `JSON.parse` and the kinds throw goes through.
   */
  readonly parse: (json: string) => T;
  /**
   * The JSON text of an object.
   *
   * @throws {PolyflakeError} as {@link ByMetabyte.decode}; `invalid_type` for an object of another class than its ID says.
   */
  readonly stringify: (object: T) => string;
}

interface Entry {
  readonly make: (members: object) => unknown;
  readonly has: (object: object) => boolean;
}

/**
 * Reads and writes objects whose kinds are told by the metabytes of their IDs, so that they need no member for that. The type is the
 * union of what the kinds make.
 *
 * ```js
 * const records = byMetabyte({ 24: User, 25: Order });
 * records.parse('{"id": "aaaaaaaa55aaaaaa", "foo": "bar", "baz": "bar"}'); // a User
 * records.revive(JSON.parse(text)); // whatever the text is, with users and orders in it
 * ```
 *
 * A kind is a class, which is made of the members as they were read, or a function of them.
 *
 * @param kinds The kinds by their metabytes, 0..255.
 * @param name The member that holds the ID.
 * @throws {PolyflakeError} `invalid_type` for what is no kind, `out_of_range` for what is no metabyte.
 */
export function byMetabyte<const K extends { readonly [metabyte: number]: Kind }>(kinds: K, name = "id"): ByMetabyte<Made<K[keyof K]>> {
  type T = Made<K[keyof K]>;
  const entries = new Map(Object.entries(kinds).map(([key, kind]) => [within(Number(key), "metabyte", 255), entryOf(kind)]));

  function entryFor(members: unknown): Entry {
    if (!isObject(members)) throw invalidType("object", members);
    const id = members[name];
    if (id === undefined) throw new PolyflakeError("missing_field", `missing value for field \`${name}\``, { field: name });
    const found = wordsOf(id, name)[2] >> 12;
    const entry = entries.get(found);
    if (entry) return entry;
    throw new PolyflakeError("out_of_range", `expected an ID of metabyte ${[...entries.keys()].join(", ")}, found ${found}`, { field: name });
  }

  const reviver = (_key: string, value: unknown): unknown => {
    const id = isObject(value) ? value[name] : undefined;
    const entry = isValid(id) ? entries.get(metabyte(id)) : undefined;
    return entry ? entry.make(value as object) : value;
  };

  function revive(value: unknown): unknown {
    if (!isObject(value)) return value;
    for (const key of Object.keys(value)) {
      const member = value[key];
      if (isObject(member)) value[key] = revive(member);
    }
    return reviver("", value);
  }

  return {
    reviver,
    revive,
    decode: (members) => entryFor(members).make(members as object) as T,
    parse: (json) => {
      const value: unknown = JSON.parse(json);
      entryFor(value);
      return revive(value) as T;
    },
    stringify: (object) => {
      if (entryFor(object).has(object as object)) return JSON.stringify(object);
      throw new PolyflakeError("invalid_type", `expected an object of the class that its \`${name}\` says, found another`, { field: name });
    },
  };
}

type Members = Record<string, unknown>;

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
}

function entryOf(kind: unknown): Entry {
  if (typeof kind !== "function") throw invalidType("class or function", kind, { field: "kinds" });
  // Classes have a prototype for good; functions may be given another.
  if (Object.getOwnPropertyDescriptor(kind, "prototype")?.writable !== false) return { make: kind as Entry["make"], has: () => true };
  return { make: (members) => new (kind as new (members: object) => unknown)(members), has: (object) => object instanceof kind };
}
