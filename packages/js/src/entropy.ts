import { PolyflakeError } from "./errors.js";

/**
 * Asks for the engine's `crypto`, with a generator and before its first ID: Node makes it when a program first asks, which takes a
 * twentieth of its own start, and Node 26 ends the process if the stack ends meanwhile.
 */
export const prepareEntropy = (): void => void Reflect.get(globalThis, "crypto");

/**
 * Random bytes from the system. Called only when an ID is made, since the global scope of a worker has none.
 *
 * @throws {PolyflakeError} `entropy_unavailable`.
 */
export function randomBytes(count: number): Uint8Array {
  try {
    return crypto.getRandomValues(new Uint8Array(count));
  } catch (cause) {
    const remedy = typeof crypto === "object" ? "in a worker, make IDs inside a handler" : "define `crypto` globally";
    throw new PolyflakeError("entropy_unavailable", `expected random bytes of the system, found none; ${remedy}`, {
      cause,
    });
  }
}
