import { PolyflakeError } from "./errors.js";

/**
 * Random bytes of the system's, asked for only when an ID is made: workers have none before.
 *
 * @throws {PolyflakeError} `entropy_unavailable`.
 */
export function randomBytes(count: number): Uint8Array {
  try {
    return crypto.getRandomValues(new Uint8Array(count));
  } catch (cause) {
    throw new PolyflakeError("entropy_unavailable", "the system gave no random bytes", { cause });
  }
}
