import { isBytes } from "../checks.js";
import type { GuardedClock } from "../clock.js";
import { PolyflakeError } from "../errors.js";
import type { Backend, Call, Calls } from "../machine.js";
import type { TableCallbacks } from "../partitions.js";
import { ensureStack, MAX_LEVELS } from "../stack.js";
import type { KeyCallbacks } from "../uuid7/keys.js";

/** The glue code for a module, which the build assembles from wasm-bindgen's functions and bindings-wasm/src/host.js. */
export interface Glue {
  /** Returns the imports for an instance. */
  readonly imports: () => WebAssembly.Imports;
  /** Passes the exports to the imported functions. */
  readonly begin: (exports: Exports) => void;
  /** Stores a clock for the module, and returns the clock's number. */
  readonly keep: (clock: GuardedClock) => number;
  /** The original `Date.now`, saved when the module is imported. */
  readonly now: () => number;
  /** Provides the table from which the module assigns random partitions, or the source of the module's random bytes. */
  readonly lend: (lent: TableCallbacks | KeyCallbacks) => void;
}

type Exports = Calls & {
  memory: WebAssembly.Memory;
  __stack_pointer: WebAssembly.Global;
  /** Runs once, before any other call. */
  __wbindgen_start(): void;
  /** Returns the address of the scratch area. */
  scratch(): number;
  /** Selects, by number, the clock for the next generator that is created. */
  clock(number: number): void;
};

/**
 * Creates a backend from a wasm module, which is passed as bytes or as a compiled module from any realm.
 *
 * @throws {PolyflakeError} `backend_unavailable` with the `cause` if the module cannot be used.
 */
export function instantiate(source: WebAssembly.Module | Uint8Array, glue: Glue): Backend {
  ensureStack(MAX_LEVELS);
  const {
    memory,
    __stack_pointer: stack,
    __wbindgen_start,
    scratch,
    clock,
    ...exports
  } = startInstance(compileModule(source), glue);
  const withStackRestored = stackRestorer(stack);
  const isCall = ([name]: [string, unknown]): boolean => !name.startsWith("__");
  const calls = Object.entries(exports)
    .filter(isCall)
    .map(([name, call]) => [
      name,
      withStackRestored(withStackCheck(call as Call, requiredLevels(name, "layoutBuild" in exports))),
    ]);
  const named = Object.fromEntries(calls) as Calls;
  return {
    kind: "wasm",
    calls: named,
    restored: named.afterRestore,
    setClock: (guarded) => clock(glue.keep(guarded)),
    lend: glue.lend,
    lendKeys: glue.lend,
    now: glue.now,
    buffer: () => memory.buffer,
    offset: scratch(),
  };
}

/**
 * Returns a compiled module, and compiles it if necessary. The class of a module is not checked, because edge runtimes pass
 * modules from the host's realm.
 */
function compileModule(source: WebAssembly.Module | Uint8Array): WebAssembly.Module {
  try {
    return isBytes(source) ? new WebAssembly.Module(source as BufferSource) : source;
  } catch (cause) {
    const hasWasm = typeof WebAssembly === "object";
    throw backendUnavailableError(
      hasWasm
        ? `expected permission to compile WebAssembly, found none: ${DIRECTIVE_HINT}`
        : "expected WebAssembly, found none",
      cause,
    );
  }
}

export const DIRECTIVE_HINT = "a content-security policy allows it with 'wasm-unsafe-eval' in script-src";

/** Returns the exports of a new instance, ready to be called. */
function startInstance(module: WebAssembly.Module, glue: Glue): Exports {
  try {
    const exports = new WebAssembly.Instance(module, glue.imports()).exports as unknown as Exports;
    glue.begin(exports);
    exports.__wbindgen_start();
    return exports;
  } catch (cause) {
    throw backendUnavailableError("expected the WebAssembly module to start, found an error", cause);
  }
}

function backendUnavailableError(message: string, cause: unknown): PolyflakeError {
  return new PolyflakeError("backend_unavailable", message, { cause });
}

/** The number of stack levels that must be available for layout calls that {@link requiredLevels} does not list. */
const LAYOUT_LEVELS = 128;

/**
 * Returns how many stack levels must be available for a call, so that the stack does not overflow while the call allocates
 * memory. Returns 0 for calls that do not allocate memory once the program has warmed up.
 */
function requiredLevels(name: string, isLayout: boolean): number {
  if (
    ["Async", "Build", "Close", "Describe", "Extend", "Many", "Piece", "Seal", "turn"].some((end) => name.endsWith(end))
  )
    return MAX_LEVELS;
  return isLayout && /^(layout|generator)/.test(name) ? LAYOUT_LEVELS : 0;
}

/** Returns a call that first checks the stack, and throws if too little stack space is left. */
function withStackCheck(call: Call, levels: number): Call {
  if (levels === 0) return call;
  return () => {
    ensureStack(levels);
    return call();
  };
}

/**
 * Wraps calls so that the backend survives a stack overflow in JavaScript. If a RangeError interrupts a call, wasm does not
 * reset its own stack pointer, so the wrapper restores it. If the call was made from within a clock, the pointer is restored
 * when the outer call returns.
 */
function stackRestorer(stack: WebAssembly.Global): (call: Call) => Call {
  const top: unknown = stack.value;
  let running = 0;
  return (call) => () => {
    running += 1;
    try {
      return call();
    } catch (thrown) {
      if (running === 1) stack.value = top;
      throw thrown;
    } finally {
      running -= 1;
    }
  };
}
