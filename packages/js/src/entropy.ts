import { PolyflakeError } from "./errors.js";

/**
 * Accesses the engine's `crypto` when a generator is created, before its first ID. Node creates `crypto` at the first access,
 * which takes 5% as long as starting Node. If the stack overflows during this access, Node 26 terminates the process.
 */
export const prepareEntropy = (): void => void Reflect.get(globalThis, "crypto");

/**
 * Returns random bytes from the operating system. This function is called only when an ID is generated, because `crypto` is not
 * available in a worker's global scope.
 *
 * @throws {PolyflakeError} `entropy_unavailable` if the operating system provides no random bytes.
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
