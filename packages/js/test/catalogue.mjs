// Provides values of the wrong type, which tests pass to functions.

/**
 * The names that Node adds to the namespace of an imported CommonJS module. Only Node 23 and later add the second name.
 */
export const ADDED_NAMES = ["default", "module.exports"];

/** Returns the names that a module exports. */
export const namesOf = (module) =>
  Object.keys(module)
    .filter((name) => !ADDED_NAMES.includes(name))
    .sort();

/** Values of every type except numbers. */
export const NON_NUMBERS = [
  null,
  "",
  "1",
  true,
  1n,
  2n ** 64n,
  Symbol("s"),
  {},
  [],
  [1],
  new Number(1),
  () => 1,
  new Date(NaN),
];
export const NON_INTEGERS = [NaN, Infinity, -Infinity, 1.5, -0.5, Number.MIN_VALUE];

/** Values that are invalid for a bigint parameter. They include numbers, because a number may have been rounded. */
export const NON_BIGINTS = [
  undefined,
  null,
  0,
  -0,
  1,
  2 ** 53,
  NaN,
  Infinity,
  1.5,
  "1",
  "",
  true,
  Symbol("s"),
  {},
  [],
  [1n],
  Object(1n),
  () => 1n,
];

/** Returns values that are not strings, although some of them convert to the string `text`. */
export const nonTextsFor = (text) => [
  ...[
    undefined,
    null,
    0,
    NaN,
    1n,
    true,
    Symbol("s"),
    {},
    [],
    [text],
    new String(text),
    { toString: () => text },
    new Date(),
  ],
];

/** Returns values that are not bytes, some of which have the right length. */
export const nonBytesFor = (length) => [
  ...[undefined, null, 0, "", "x".repeat(length), [], new Array(length).fill(0), { length }, throwingProxy],
  ...[
    new ArrayBuffer(length),
    new DataView(new ArrayBuffer(length)),
    new Float64Array(length),
    new Uint8ClampedArray(length),
  ],
  ...[new Int8Array(length), new BigInt64Array(1), new BigUint64Array(1)],
];

/** Returns bytes whose buffer was transferred, so that the array is detached. */
export function detachedBytes(length = 10) {
  const bytes = new Uint8Array(length);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

/** An error that callers' objects throw. It must propagate unchanged. */
export class ForeignError extends Error {}

/** Bytes that misreport their length. */
export class MisreportingArray extends Uint8Array {
  get length() {
    throw new ForeignError("length");
  }
  get byteLength() {
    return 10;
  }
}

export const thrower = (name) => ({
  get [name]() {
    throw new ForeignError("a getter");
  },
});

export const throwingProxy = new Proxy(
  {},
  {
    ownKeys() {
      throw new ForeignError("ownKeys");
    },
    get() {
      throw new ForeignError("get");
    },
  },
);
