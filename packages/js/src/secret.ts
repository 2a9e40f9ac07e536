import { arrayLength, byteRange, checkBytes } from "./checks.js";
import { PolyflakeError } from "./errors.js";
import type { Machine } from "./machine.js";
import { register } from "./protocol.js";

const SECRET_LENGTH = 16;

/**
 * Writes a key or secret to the scratch area and returns its length in bytes. The call that reads the bytes erases them. If the
 * length is wrong, no byte is written, and that call fails because of the length.
 *
 * @throws {PolyflakeError} `invalid_type` if the argument has the wrong type.
 */
export function putSecret(m: Pick<Machine, "bytes">, secret: unknown, field: string): number {
  const length = arrayLength(checkBytes(secret, field));
  if (length === SECRET_LENGTH) m.bytes.set(byteRange(secret as Uint8Array, 0, SECRET_LENGTH));
  return length;
}

/**
 * Returns a copy of a secret.
 *
 * @throws {PolyflakeError} `invalid_type` unless the secret is a Uint8Array; `invalid_secret` if it has the wrong length.
 */
export function copySecret(secret: unknown): Uint8Array {
  const copy = Uint8Array.from(checkBytes(secret, "secret"));
  if (copy.length === SECRET_LENGTH) return copy;
  throw new PolyflakeError("invalid_secret", `expected a secret of ${SECRET_LENGTH} bytes, found ${copy.length}`);
}

/** Writes a key or secret, and returns a function that writes its length. */
export function secretWriter(m: Machine, secret: unknown, field: string): () => void {
  const length = putSecret(m, secret, field);
  return () => (m.numbers[register.count] = length);
}
