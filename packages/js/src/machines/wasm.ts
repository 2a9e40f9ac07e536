import { isBytes } from "../checks.js";
import type { GuardedClock } from "../clock.js";
import { PolyflakeError } from "../errors.js";
import type { Backend, Call, Calls } from "../machine.js";
import type { LentTable } from "../partitions.js";
import { MANY_LEVELS, needStack } from "../stack.js";

/** What the build puts together for a module, of wasm-bindgen's functions and of bindings-wasm/src/host.js. */
export interface Glue {
  /** What an instance imports. */
  readonly imports: () => WebAssembly.Imports;
  /** Hands its exports to what it imported. */
  readonly begin: (exports: Exports) => void;
  /** Keeps a clock for it, and gives the clock's number. */
  readonly keep: (clock: GuardedClock) => number;
  /** Lends it the table of default partitions. */
  readonly lend: (table: LentTable) => void;
}

type Exports = Calls & {
  memory: WebAssembly.Memory;
  __stack_pointer: WebAssembly.Global;
  /** Runs once, before all else. */
  __wbindgen_start(): void;
  /** Where the scratch area lies. */
  scratch(): number;
  /** Sets the clock of the generator that is built next, by its number. */
  clock(number: number): void;
};

/**
 * A wasm module as a machine, from its compiled form (of any realm) or its bytes.
 *
 * @throws {PolyflakeError} `backend_unavailable` with the `cause`.
 */
export function instantiate(source: WebAssembly.Module | Uint8Array, glue: Glue): Backend {
  needStack(MANY_LEVELS);
  const { memory, __stack_pointer: stack, __wbindgen_start, scratch, clock, ...exports } = started(compiled(source), glue);
  const mended = mender(stack);
  const isCall = ([name]: [string, unknown]): boolean => !name.startsWith("__");
  const calls = Object.entries(exports)
    .filter(isCall)
    .map(([name, call]) => [name, mended(guarded(call as Call, levelsOf(name)))]);
  return {
    kind: "wasm",
    calls: Object.fromEntries(calls) as Calls,
    setClock: (guarded) => clock(glue.keep(guarded)),
    lend: glue.lend,
    buffer: () => memory.buffer,
    offset: scratch(),
  };
}

/** A module, compiled unless the runtime did it: an edge's modules are of its host's realm, so they are not told by their class. */
function compiled(source: WebAssembly.Module | Uint8Array): WebAssembly.Module {
  try {
    return isBytes(source) ? new WebAssembly.Module(source as BufferSource) : source;
  } catch (cause) {
    const hasWasm = typeof WebAssembly === "object";
    throw unavailable(hasWasm ? `expected leave to compile wasm, found none: ${DIRECTIVE}` : "expected WebAssembly, found none", cause);
  }
}

export const DIRECTIVE = "a content-security policy allows it with 'wasm-unsafe-eval' in script-src";

/** The exports of an instance that is ready. */
function started(module: WebAssembly.Module, glue: Glue): Exports {
  try {
    const exports = new WebAssembly.Instance(module, glue.imports()).exports as unknown as Exports;
    glue.begin(exports);
    exports.__wbindgen_start();
    return exports;
  } catch (cause) {
    throw unavailable("expected a wasm module that starts, found one that fails", cause);
  }
}

function unavailable(message: string, cause: unknown): PolyflakeError {
  return new PolyflakeError("backend_unavailable", message, { cause });
}

/** Fewer, for calls that only layouts make. */
const LEVELS = 128;

/** How many, for a call that may be left in the middle with memory being handed out. Those in steady use ask for none. */
function levelsOf(name: string): number {
  if (["Async", "Build", "Describe", "Piece", "Pool", "turn"].some((end) => name.endsWith(end))) return MANY_LEVELS;
  return name.startsWith("layout") ? LEVELS : 0;
}

/** A call that is not begun where the stack is about to end. */
function guarded(call: Call, levels: number): Call {
  if (levels === 0) return call;
  return () => {
    needStack(levels);
    return call();
  };
}

/**
 * Makes calls that survive the end of JavaScript's stack: a RangeError leaves wasm in the middle, and the stack in its
 * memory as it was then. Calls inside a clock are mended by the return of the call around it.
 */
function mender(stack: WebAssembly.Global): (call: Call) => Call {
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
