import type { GuardedClock } from "../clock.js";
import type { Backend, Call, Calls } from "../machine.js";

/** What wasm-bindgen makes for a module, as far as it is needed: calls without arguments need no glue. */
export interface Glue {
  initSync(source: { module: WebAssembly.Module | Uint8Array }): Exports;
  scratch(): number;
  /** Keeps a clock for the module, and gives its number. */
  keep(clock: GuardedClock): number;
}

type Exports = Calls & {
  memory: WebAssembly.Memory;
  __stack_pointer: WebAssembly.Global;
  /** Sets the clock of the generator that is built next, by its number. */
  clock(number: number): void;
};

/** A wasm module as a machine, from its compiled form or its bytes. */
export function instantiate(module: WebAssembly.Module | Uint8Array, glue: Glue): Backend {
  needStack(MANY_LEVELS);
  const { memory, __stack_pointer: stack, clock, ...exports } = glue.initSync({ module });
  const mended = mender(stack);
  const isCall = ([name]: [string, unknown]): boolean => !name.startsWith("__") && name !== "scratch";
  const calls = Object.entries(exports)
    .filter(isCall)
    .map(([name, call]) => [name, mended(guarded(call as Call, levelsOf(name)))]);
  return {
    kind: "wasm",
    calls: Object.fromEntries(calls) as Calls,
    setClock: (guarded) => clock(glue.keep(guarded)),
    buffer: () => memory.buffer,
    offset: glue.scratch(),
  };
}

/** Levels of 70 bytes that a call must find on the stack: it takes a third of them at most, as measured with V8's compilers. */
const MANY_LEVELS = 512;
const LEVELS = 128;

/** How many, for a call that may be left in the middle with memory being handed out. Those in steady use ask for none. */
function levelsOf(name: string): number {
  if (["Build", "Describe", "Piece", "Pool"].some((end) => name.endsWith(end))) return MANY_LEVELS;
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

/**
 * Throws, before anything is begun, where the stack is about to end: for calls that ask for memory, which must not be left
 * in the middle.
 */
function needStack(levels: number): number {
  return levels === 0 ? 0 : needStack(levels - 1) + 1;
}
