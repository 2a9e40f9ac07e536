/**
 * Public IDs: encrypted strings that represent existing integer keys, such as `order_1x…` in a URL for row 42. The same
 * number always encodes to the same string.
 *
 * Each type of ID has its own key, which is derived from the secret and the type's name. Public IDs hide how many rows a table
 * has and which row came first. They do not grant access, and they cannot be revoked.
 *
 * ```js
 * import { Keyring } from "polyflake/public";
 *
 * const ids = new Keyring(secret); // 32 random bytes, from the environment or a file
 * const orders = ids.of("order");
 * orders.decode(orders.encode(42)); // 42
 * ```
 *
 * @module
 */

import { load, init as open } from "#machine/public";
import {
  arrayLength,
  attached,
  byteRange,
  checkAtMost,
  checkBytes,
  checkInteger,
  checkString,
  isBytes,
  isObject,
} from "../checks.js";
import { checkTextLength, firstInvalidCharacterError, toDisplayValue, type ValueAt } from "../decode/checks.js";
import { type ErrorDetails, invalidLength, invalidType, outOfRange, PolyflakeError } from "../errors.js";
import { Handle } from "../handle.js";
import type { Init } from "../init.js";
import { type Schema, schemaOf } from "../integrations/standard.js";
import { loadOnDemand, type Machine, type NextFunction } from "../machine.js";
import { entries, members } from "../members.js";
import { BATCH, BYTES, register } from "../protocol.js";
import { addDisplay, emptyJson, nameOf } from "../show.js";
import { checkTexts, elements, readItem, throwFirstError } from "../texts.js";
import { intendedCharacter, isTailCode, putTail, TAIL_CHARACTER, TAIL_LENGTH } from "./tail.js";

/** Loads the wasm module. See {@link Init}. */
export const init: Init = open;

const machine = /* @__PURE__ */ loadOnDemand(load);

/** The number of bytes in a secret (`SECRET_LENGTH`), and the highest version of a secret (`MAX_VERSION`). */
const SECRET_LENGTH = 32;
const MAX_VERSION = 31;

/** The maximum length of a type's name. */
const MAX_NAME_LENGTH = 63;

/**
 * The default and maximum widths of encoded integers, in bits. By default, the integers are below 2^48. Types of at most 53
 * bits (`NUMBER_BITS`) use numbers, and wider types use bigints.
 */
const DEFAULT_BITS = 48;
const MAX_BITS = 64;
const NUMBER_BITS = 53;

/** A public ID of the type with the given name. */
export type PublicId<Name extends string = string> = `${Name}_${string}`;

/** Options for {@link Keyring}. */
export interface IdsOptions {
  /**
   * The version to use for encoding instead of the highest one. Set it in the first step of a rotation, so that every process
   * can decode the new version before any process encodes with it.
   */
  readonly write?: number | undefined;
}

/** Options for a type of public ID. */
export interface TypeOptions<Bits extends number = number> {
  /**
   * The width of the numbers in bits, 1 to 64; 48 by default. All numbers must be below 2^bits.
   *
   * With a smaller width, more forged IDs are rejected. On average, one in 2^(64 - bits) forged IDs is accepted: one in 65,536
   * with 48 bits, and one in two with 63 bits. An ID of a different type or width is accepted with the same probability if its
   * type name is replaced. The key depends on the width, so changing the width of a type changes all its public IDs.
   */
  readonly bits?: Bits | undefined;
}

/** The widths at which a type's numbers are bigints. */
type WideBits = 54 | 55 | 56 | 57 | 58 | 59 | 60 | 61 | 62 | 63 | 64;

/** The type of the numbers, for a given width in bits. */
export type NumberOf<Bits extends number> = number extends Bits
  ? number | bigint
  : Bits extends WideBits
    ? bigint
    : number;

/** Returns the handle of a keyring's secrets, or undefined for any other object. */
let handleOf: (keyring: Keyring) => Handle | undefined;

/**
 * The secrets that a program uses to encode and decode its public IDs. They are copied and never shown.
 *
 * A public ID contains the version of its secret. Public IDs with any of the keyring's versions can be decoded. New public IDs
 * are encoded with the highest version, unless `write` selects a different one.
 *
 * To rotate the secret, first provide both secrets to every process, while `write` still selects the old version. When every
 * process can decode the new version, encode with it. From then on, a number has two public IDs, so compare numbers, not
 * strings.
 *
 * ```js
 * const ids = new Keyring({ 1: old, 2: secret }, { write: 1 }); // later without the option
 * ```
 */
export class Keyring {
  static readonly name: string = "Keyring";

  readonly #handle: Handle;

  static {
    handleOf = (keyring) => (isObject(keyring) && #handle in keyring ? keyring.#handle : undefined);
  }

  /**
   * Creates the keyring from one secret, which is assigned version 1, or from an object that maps versions (0 to 31) to
   * secrets.
   *
   * @throws {PolyflakeError} `invalid_type` if an argument has the wrong type; `invalid_secret` if a secret does not have 32
   * bytes, or if two versions have the same secret; `out_of_range` if a version is out of range; `missing_field` if the object
   * has no secrets; `unknown_version` if there is no secret for the `write` version.
   */
  constructor(secret: Uint8Array | Readonly<Record<number, Uint8Array>>, options: IdsOptions = {}) {
    const loaded = machine();
    const secrets = readSecrets(secret);
    const { write } = members(options, "options", ["write"]);
    const written =
      write === undefined ? Math.max(...secrets.map(([version]) => version)) : checkAtMost(write, "write", MAX_VERSION);
    this.#handle = new Handle(loaded, () => putSecrets(loaded, secrets, written), loaded.calls.publicBuild);
    addDisplay(this, emptyJson, nameOf);
  }

  /**
   * Returns the type of public ID with the given name. A type with at most 53 bits uses numbers, and a wider one uses bigints.
   *
   * @throws {PolyflakeError} `invalid_type` if an argument has the wrong type; `invalid_character` or `invalid_length` if the
   * name does not match `[a-z][a-z0-9_]*` or does not have 1 to 63 characters; `out_of_range` unless the width is in 1..64;
   * `unknown_field` if an option does not exist.
   */
  of<const Name extends string, const Bits extends number = 48>(
    type: Name,
    options: TypeOptions<Bits> = {},
  ): IdType<NumberOf<Bits>, Name> {
    attached(isObject(this) && #handle in this);
    return new IdType<NumberOf<Bits>, Name>(this, type, options);
  }
}

type Secrets = readonly (readonly [version: number, secret: Uint8Array])[];

function readSecrets(given: unknown): Secrets {
  const all: [version: string, secret: unknown][] =
    isBytes(given) || !isObject(given) ? [["1", given]] : entries(given, "secret");
  return all.map(([text, secret]) => {
    const version = Number(text);
    if (String(version) !== text) throw invalidType("integer", text, { field: "version" });
    checkAtMost(version, "version", MAX_VERSION);
    const length = arrayLength(checkBytes(secret, "secret"));
    if (length === SECRET_LENGTH) return [version, secret as Uint8Array];
    const message = `expected a secret of ${SECRET_LENGTH} bytes, found ${length}`;
    throw new PolyflakeError("invalid_secret", message, { field: "secret" });
  });
}

/**
 * Writes secrets to the scratch area for the `publicBuild` call, which erases them after reading them. Each secret is
 * preceded by its version.
 */
function putSecrets(m: Machine, secrets: Secrets, written: number): void {
  secrets.forEach(([version, secret], k) => {
    m.bytes[k * (1 + SECRET_LENGTH)] = version;
    m.bytes.set(byteRange(secret, 0, SECRET_LENGTH), k * (1 + SECRET_LENGTH) + 1);
  });
  m.bytes[secrets.length * (1 + SECRET_LENGTH)] = written;
  m.numbers[register.count] = secrets.length;
}

/** Checks that a value is a valid type name (a letter, followed by letters, digits and `_`) and returns it. */
function checkTypeName(given: unknown): string {
  const name = checkString(given, "type");
  const valueAt: ValueAt = (text, at) =>
    /[a-z]/.test(text.charAt(at)) || (at > 0 && /[0-9_]/.test(text.charAt(at))) ? 0 : -1;
  for (let at = 0; at < name.length; at++)
    if (valueAt(name, at) < 0) throw firstInvalidCharacterError(name, "type", valueAt);
  return checkTextLength(name, "type", MAX_NAME_LENGTH, 1);
}

/** Adds the name of the parameter to an error from the core. */
const addTextField = (error: ErrorDetails): undefined => {
  error.field = "text";
};

/**
 * A type of public ID, which encodes numbers as strings and decodes those strings.
 *
 * ```js
 * const orders = ids.of("order");
 * orders.decode("order_0123456789abcde"); // throws: check_failed
 * ```
 */
export class IdType<N extends number | bigint = number | bigint, Name extends string = string> {
  static readonly name: string = "IdType";

  readonly #handle: Handle;
  readonly #prefix: `${Name}_`;
  readonly #bits: number;
  readonly #isWide: boolean;
  readonly #most: number | bigint;
  readonly #next: NextFunction<PublicId<Name>>;
  #schema: Schema<string, N> | undefined;

  /** Creates the type. Prefer {@link Keyring.of}, whose TypeScript type states whether the numbers are bigints. */
  constructor(keyring: Keyring, type: Name, options: TypeOptions = {}) {
    const keyringHandle = handleOf(keyring);
    if (!keyringHandle) throw invalidType("Keyring of this copy of the package", keyring, { field: "keyring" });
    const { bits = DEFAULT_BITS } = members(options, "options", ["bits"]);
    const width = checkInteger(bits, "bits");
    if (width < 1 || width > MAX_BITS) throw outOfRange(1, MAX_BITS, width, "bits");
    const name = checkTypeName(type);
    const m = keyringHandle.machine;
    const write = () => {
      keyringHandle.ready();
      m.putAscii(name);
      m.numbers[register.count] = name.length;
      m.numbers[register.value] = width;
    };
    this.#handle = new Handle(m, write, m.calls.publicTypeBuild);
    this.#prefix = `${name as Name}_`;
    this.#bits = width;
    this.#isWide = width > NUMBER_BITS;
    this.#most = this.#isWide ? (1n << BigInt(width)) - 1n : 2 ** width - 1;
    this.#next = m.maker("publicEncode", () => m.ascii(0, this.#width) as PublicId<Name>, false);
    addDisplay(this, emptyJson, nameOf);
  }

  /** The name of the type. */
  get name(): Name {
    attached(isObject(this) && #handle in this);
    return this.#prefix.slice(0, -1) as Name;
  }

  /** The width of the numbers in bits. */
  get bits(): number {
    attached(isObject(this) && #handle in this);
    return this.#bits;
  }

  /** The number of characters in a public ID. */
  get #width(): number {
    return this.#prefix.length + TAIL_LENGTH;
  }

  /**
   * Returns the public ID of a number. With the same secret, a number always has the same public ID.
   *
   * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type; `out_of_range` if the number is negative or
   * needs more bits than the type has.
   */
  encode(number: number | bigint): PublicId<Name> {
    attached(isObject(this) && #handle in this);
    const value = this.#checked(number, "number");
    const m = this.#handle.ready();
    if (typeof value === "bigint") m.bigints[register.value] = value;
    else m.numbers[register.value] = value;
    return this.#next() ?? this.#handle.throwError();
  }

  /**
   * Returns the number that a public ID represents.
   *
   * @throws {PolyflakeError} `invalid_type` unless the argument is a string; `type_mismatch` if the ID belongs to a different
   * type; `invalid_length` or `invalid_character` if the string is not a public ID, with a suggestion for the invalid
   * character; `check_failed` if a character was mistyped; `unknown_version` if the keyring has no secret for the ID's version;
   * `unknown_id` if the ID was forged or encoded with a different secret.
   */
  decode(text: string): N {
    attached(isObject(this) && #handle in this);
    return this.#decode(text);
  }

  /**
   * Returns the public IDs of up to 16,777,216 numbers.
   *
   * @throws {PolyflakeError} the same errors as {@link IdType.encode}, with `item` set to the index of the number;
   * `out_of_range` for more than 16,777,216 numbers.
   */
  encodeMany(ids: readonly (number | bigint)[]): PublicId<Name>[] {
    attached(isObject(this) && #handle in this);
    const numbers = elements(ids).map((id, item) => readItem(id, item, (id) => this.#checked(id, "ids")));
    const texts = new Array<PublicId<Name>>(numbers.length);
    for (let from = 0; from < numbers.length; from += this.#batch) {
      const some = numbers.slice(from, from + this.#batch);
      (this.#slots(some.length) as Float64Array).set(some as number[]);
      this.#handle.machine.numbers[register.count] = some.length;
      this.#handle.call("publicEncodeMany").cut(texts, from, some.length, this.#width);
    }
    return texts;
  }

  /**
   * Returns the numbers that up to 16,777,216 public IDs represent.
   *
   * @throws {PolyflakeError} the same errors as {@link IdType.decode}, with `item` set to the index of the ID; `out_of_range`
   * for more than 16,777,216 IDs.
   */
  decodeMany(ids: readonly string[]): N[] {
    attached(isObject(this) && #handle in this);
    const texts = checkTexts(elements(ids), this.#width, this.#width);
    const numbers = new Array<N>(texts.count);
    for (let from = 0; from < texts.count; from += this.#batch) {
      const to = Math.min(from + this.#batch, texts.count);
      const m = this.#handle.ready();
      m.numbers[register.count] = to - from;
      if (!m.putAscii(texts.joined(from, to)) || m.calls.publicDecodeMany() !== 0)
        throwFirstError(texts, from, to, (text) => this.#decode(text));
      m.refreshViews();
      const slots = this.#slots(to - from);
      for (let k = from; k < to; k++) numbers[k] = slots[k - from] as N;
    }
    return numbers;
  }

  /** The schema for public IDs of this type, for libraries that support Standard Schema. Validation returns the number. */
  get schema(): Schema<string, N> {
    attached(isObject(this) && #handle in this);
    const pattern = `^${this.#prefix}${TAIL_CHARACTER}[0-9a-f]${TAIL_CHARACTER}{13}$`;
    const texts = [pattern, `${this.#prefix}1abpg7dgwhjba5j`] as const;
    this.#schema ??= schemaOf((value) => this.#decode(value), texts);
    return this.#schema;
  }

  /** The maximum number of IDs or numbers in one batch call. */
  get #batch(): number {
    return Math.min(BATCH, Math.floor(BYTES / this.#width));
  }

  /** Returns the slots for the numbers of a batch call. */
  #slots(count: number): BigUint64Array | Float64Array {
    const { buffer, byteOffset } = this.#handle.machine.bytes;
    const [Wide, Narrow] = [BigUint64Array, Float64Array];
    return this.#isWide ? new Wide(buffer, byteOffset, count) : new Narrow(buffer, byteOffset, count);
  }

  #decode(text: unknown): N {
    const from = this.#prefix.length;
    const m = this.#handle.ready();
    const given = checkString(text, "text");
    if (given.length !== this.#width || !given.startsWith(this.#prefix) || !putTail(given, from, m.bytes))
      throw this.#misread(given);
    m.check(m.calls.publicDecode(), addTextField);
    return (this.#isWide ? BigInt.asUintN(64, m.bigints[register.answer]!) : m.numbers[register.answer]) as N;
  }

  /** Returns the error for a string that is not a public ID of this type. The check character is not verified. */
  #misread(text: string): PolyflakeError {
    const [field, from] = ["text", this.#prefix.length];
    const end = text.lastIndexOf("_");
    const found = text.slice(0, Math.max(end, 0));
    if (text.slice(0, end + 1) !== this.#prefix) {
      const other =
        end >= 0 && found.length <= MAX_NAME_LENGTH ? `\`${JSON.stringify(found).slice(1, -1)}\`` : "another";
      const message = `expected an ID of the type \`${this.name}\`, found ${other}`;
      return new PolyflakeError("type_mismatch", message, { field });
    }
    if (text.length !== this.#width) return invalidLength(this.#width, text.length, { field });
    const error = firstInvalidCharacterError(text, field, (text, at) =>
      at < from || isTailCode(text.charCodeAt(at)) ? 0 : -1,
    );
    const other = intendedCharacter(text.charAt(error.position!));
    if (other) error.message += `, did you mean \`${other}\`?`;
    return error;
  }

  /** Checks that the type can encode a number, and returns the number in the form that its slot holds. */
  #checked(value: unknown, field: string): number | bigint {
    if (typeof value === "bigint") {
      if (value < 0n || value > this.#most) throw outOfRange(0, this.#most, toDisplayValue(value), field);
      return this.#isWide ? value : Number(value);
    }
    if (typeof value !== "number" || !Number.isInteger(value)) throw invalidType("integer", value, { field });
    const isNegativeZero = Object.is(value, -0);
    if (value < 0 || value > this.#most || isNegativeZero)
      throw outOfRange(0, this.#most, isNegativeZero ? "-0" : value, field);
    if (!Number.isSafeInteger(value)) throw invalidType("bigint from 2^53 on", value, { field });
    return this.#isWide ? BigInt(value) : value;
  }
}
