import { PolyflakeError } from "./errors.js";

/**
 * Initializes the engine's `crypto` object when a generator is created, before it generates its first ID. Node creates the
 * object on first access, which takes 5% of Node's startup time. If the stack overflows during this access, Node 26
 * terminates the process.
 */
export const prepareEntropy = (): void => void Reflect.get(globalThis, "crypto");

/** The functions of Node's modules that this package uses, by module name. */
interface BuiltIns {
  "node:fs": {
    openSync(path: string, flags: string): number;
    readSync(file: number, into: Uint8Array): number;
    closeSync(file: number): void;
  };
  "node:worker_threads": {
    getEnvironmentData(key: string): SharedArrayBuffer | undefined;
    setEnvironmentData(key: string, value: SharedArrayBuffer): void;
  };
}

interface Host {
  process?: { getBuiltinModule?: <Name extends keyof BuiltIns>(name: Name) => BuiltIns[Name] | undefined };
}

/** Returns a module that is built into the runtime, or `undefined` if the runtime has no module of this name. */
export const getBuiltInModule = <Name extends keyof BuiltIns>(name: Name): BuiltIns[Name] | undefined =>
  (globalThis as Host).process?.getBuiltinModule?.(name);

/**
 * Returns random bytes from the kernel, or `undefined` if this runtime cannot read them. Node and Bun can read them on
 * Linux and macOS. In Deno, this function does not try to read them, because Deno would ask the user for permission.
 */
export function kernelBytes(count: number): Uint8Array | undefined {
  if ("Deno" in globalThis) return undefined;
  const bytes = new Uint8Array(count);
  let file: number | undefined;
  const files = getBuiltInModule("node:fs");
  try {
    file = files?.openSync("/dev/urandom", "r");
    return file !== undefined && files!.readSync(file, bytes) === count ? bytes : undefined;
  } catch (error) {
    // Only system errors have a code. Rethrow any other error, such as a stack overflow, because the caller must not
    // continue without the random bytes.
    if (typeof (error as { code?: unknown }).code === "string") return undefined;
    throw error;
  } finally {
    if (file !== undefined) files!.closeSync(file);
  }
}

/**
 * Returns random bytes from the runtime. This function is called only when an ID is generated, because `crypto` is not
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
