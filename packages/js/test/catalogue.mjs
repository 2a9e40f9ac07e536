// Values that JavaScript can hand to a function that wants something else.

/** Values of every type, but for what a single argument may be. */
export const NOT_A_NUMBER = [null, "", "1", true, 1n, 2n ** 64n, Symbol("s"), {}, [], [1], new Number(1), () => 1, new Date(NaN)];
export const NOT_WHOLE = [NaN, Infinity, -Infinity, 1.5, -0.5, Number.MIN_VALUE];

/** Where a bigint is wanted, a number is not taken: it may have been rounded. */
export const NOT_A_BIGINT = [undefined, null, 0, -0, 1, 2 ** 53, NaN, Infinity, 1.5, "1", "", true, Symbol("s"), {}, [], [1n], Object(1n), () => 1n];

/** What is no text, though some of it turns into one. */
export const notATextOf = (text) => [
  ...[undefined, null, 0, NaN, 1n, true, Symbol("s"), {}, [], [text], new String(text), { toString: () => text }, new Date()],
];

/** What are no bytes, though some of it has as many. */
export const notBytesOf = (length) => [
  ...[undefined, null, 0, "", "x".repeat(length), [], new Array(length).fill(0), { length }, hostile],
  ...[new ArrayBuffer(length), new DataView(new ArrayBuffer(length)), new Float64Array(length), new Uint8ClampedArray(length)],
  ...[new Int8Array(length), new BigInt64Array(1), new BigUint64Array(1)],
];

/** Bytes whose buffer went elsewhere. */
export function detached(length = 10) {
  const bytes = new Uint8Array(length);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

/** What objects of a caller's throw: it goes through as it is. */
export class Theirs extends Error {}

/** Bytes that lie about their length. */
export class Lying extends Uint8Array {
  get length() {
    throw new Theirs("length");
  }
  get byteLength() {
    return 10;
  }
}

export const throwing = (name) => ({
  get [name]() {
    throw new Theirs("a getter");
  },
});

export const hostile = new Proxy({}, {
  ownKeys() {
    throw new Theirs("ownKeys");
  },
  get() {
    throw new Theirs("get");
  },
});
