import { initSync, scratch, snoBuild } from "#wasm";
import { clocksInProgress } from "../clock.js";
import type { Backend, Calls } from "../machine.js";

type Call = () => number;

/** The wasm module as a machine, from its compiled form or its bytes. */
export function instantiate(module: WebAssembly.Module | Uint8Array): Backend {
  needStack();
  const { memory, __stack_pointer: stack, ...exports } = initSync({ module });
  const mended = mender(stack);
  const build = (clock: Parameters<Calls["snoBuild"]>[0]): number => {
    needStack();
    return snoBuild(clock);
  };
  const entries = Object.entries(exports).filter(([name]) => name.startsWith("sno"));
  const calls = Object.fromEntries(entries.map(([name, call]) => [name, mended(call as Call)]));
  return { kind: "wasm", calls: { ...(calls as unknown as Calls), snoBuild: build }, buffer: () => memory.buffer, offset: scratch() };
}

/**
 * Makes calls that survive the end of JavaScript's stack: a RangeError leaves wasm in the middle, and the stack in its
 * memory as it was then. Calls inside a clock are mended by the return of the call around it.
 */
function mender(stack: WebAssembly.Global): (call: Call) => Call {
  const top: unknown = stack.value;
  return (call) => () => {
    try {
      return call();
    } catch (thrown) {
      if (clocksInProgress() === 0) stack.value = top;
      throw thrown;
    }
  };
}

/**
 * Throws, before anything is begun, where the stack is about to end: for calls that ask for memory, which must not be left
 * in the middle.
 */
function needStack(levels = 512): number {
  return levels === 0 ? 0 : needStack(levels - 1) + 1;
}
