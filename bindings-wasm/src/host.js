/** What the wasm machine asks of JavaScript: the time, a sleep, its users' functions, which it knows by number, and default partitions. */

/**
 * The `Date.now` of the import: a date that tests put in its place later would stay in generators, which never go back. Those that
 * are to see it have a clock.
 */
const now = /* @__PURE__ */ (() => Date.now)();

/** The `performance.now` of the import. */
const passed = /* @__PURE__ */ (() => {
  const { performance } = globalThis;
  const now = performance?.now;
  return () => now.call(performance);
})();
/** What it showed last. */
let latest = 0;

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
    return number === 0 ? now() : clocks.get(number).read();
  } catch {
    return NaN;
  }
}

/** Milliseconds since some moment, by a clock that only goes on; NaN where there is none, or it does anything else. */
export function elapsed() {
  try {
    const ms = passed();
    return Number.isFinite(ms) && ms >= latest ? (latest = ms) : NaN;
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

/** The table of default partitions, whose functions throw nothing. */
let table;

/** Lends it. */
export function lend(lent) {
  table = lent;
}

/** 16 random bits; NaN where there are none, or no table was lent. */
export function random() {
  return table ? table.random() : NaN;
}

/** The partition to look at next; NaN where that fails. */
export function next() {
  return table.next();
}

/** The tick up to which a partition is taken, -1 for ever. */
export function until(partition) {
  return table.until(partition);
}

/** Puts one tick in the place of another; 0 where that was not there. */
export function swap(partition, old, fresh) {
  return table.swap(partition, old, fresh);
}
