/** What the wasm machine asks of JavaScript: the time, a sleep, and its users' functions, which it knows by number. */

/** By number, from 1 on; 0 is the system's clock. */
const clocks = /* @__PURE__ */ new Map();
let last = 0;
/** A cell that nobody wakes. */
let cell;

/** Keeps the functions of a generator: `read()` and, where there is one, `stalled(...)`. */
export function keep(clock) {
  clocks.set(++last, clock);
  return last;
}

/** Forgets them. */
export function forget(number) {
  clocks.delete(number);
}

/** The time in Unix milliseconds. The functions throw only where the stack ends. */
export function read(number) {
  try {
    return number === 0 ? Date.now() : clocks.get(number).read();
  } catch {
    return NaN;
  }
}

/** Tells that a call has to wait; 1 where it may. */
export function stalled(number, reason, unixMs, calls, sleptMs) {
  try {
    return clocks.get(number)?.stalled?.(reason, unixMs, calls, sleptMs) ?? 1;
  } catch {
    return 0;
  }
}

/** Sleeps, where the runtime lets a thread sleep; pages that are not isolated have no memory for it. */
export function sleep(ms) {
  try {
    cell ??= new Int32Array(new SharedArrayBuffer(4));
    Atomics.wait(cell, 0, 0, ms);
  } catch {
    // Then it returns at once: the bound on unmoved readings ends the wait.
  }
}
