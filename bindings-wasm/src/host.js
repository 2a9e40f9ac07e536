/** The functions that the wasm machine imports: the time, a sleep, clocks of users by their numbers, and default partitions. */

/**
 * `Date.now` as of the import: a mocked time that tests install later would stay in generators, which never go back. A generator
 * that should see mocked time is given a clock.
 */
export const now = /* @__PURE__ */ (() => Date.now)();

/** `performance.now` as of the import. */
const passed = /* @__PURE__ */ (() => {
  const { performance } = globalThis;
  const now = performance?.now;
  return () => now.call(performance);
})();
/** Its last reading. */
let latest = 0;

/** Clocks by number, from 1 on; 0 is the system's clock. */
const clocks = /* @__PURE__ */ new Map();
let last = 0;
/** A cell to wait on, which nothing notifies. */
let cell;

/** Keeps the functions of a generator: `read()` and, if given, `stalled(...)`. */
export function keep(clock) {
  clocks.set(++last, clock);
  return last;
}

/** Drops the functions of a generator. */
export function forget(number) {
  clocks.delete(number);
}

/** The time in Unix milliseconds; NaN at the end of the stack, the only place where a clock throws. */
export function read(number) {
  try {
    return number === 0 ? now() : clocks.get(number).read();
  } catch {
    return NaN;
  }
}

/** Milliseconds since some moment, by a monotonic clock; NaN if there is none, or if it goes back or stops being a number. */
export function elapsed() {
  try {
    const ms = passed();
    return Number.isFinite(ms) && ms >= latest ? (latest = ms) : NaN;
  } catch {
    return NaN;
  }
}

/** The greatest common divisor of all readings that {@link step} has seen, at most the longest step of browsers, in milliseconds. */
let common = 100;

/**
 * The step of the system's time in milliseconds: 100 in browsers that resist fingerprinting, else 1 or little more. It is found by
 * divisors, of the monotonic clock too, which has fractions of milliseconds wherever time is not coarse.
 */
export function step() {
  for (const reading of [now(), elapsed()]) {
    for (let rest = reading; rest !== 0; ) {
      if (!Number.isInteger(rest)) return (common = 1);
      [common, rest] = [rest, common % rest];
    }
  }
  return common;
}

/** Reports that a call has to wait; 1 if it may. */
export function stalled(number, reason, unixMs, calls, sleptMs) {
  try {
    return clocks.get(number)?.stalled?.(reason, unixMs, calls, sleptMs) ?? 1;
  } catch {
    return 0;
  }
}

/** Waits on a cell for at most `ms` milliseconds; throws where a thread cannot sleep, as on the main thread of a page. */
function rest(ms) {
  cell ??= new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(cell, 0, 0, ms);
}

/** Returns 1 if the runtime lets this thread sleep, else 0. */
export function sleeps() {
  try {
    rest(0);
    return 1;
  } catch {
    return 0;
  }
}

/** Readings in a row of a clock that does not move before it counts as standing still: about a millisecond. */
const STILL = 20_000;

/**
 * Sleeps, or reads the clock until the time has passed where a thread cannot sleep. On a clock that stands still it returns soon: the
 * bound on unmoved readings then ends the wait.
 */
export function sleep(ms) {
  try {
    rest(ms);
  } catch {
    const end = elapsed() + ms;
    let last = NaN;
    for (let still = 0; still < STILL; ) {
      const now = elapsed();
      if (!(now < end)) return;
      still = now === last ? still + 1 : 0;
      last = now;
    }
  }
}

/** The table of default partitions, whose functions never throw. */
let table;

/** Lends the table. */
export function lend(lent) {
  table = lent;
}

/** 16 random bits; NaN if there are none, or no table was lent. */
export function random() {
  return table ? table.random() : NaN;
}

/** The partition to look at next; NaN for a failure. */
export function next() {
  return table.next();
}

/** The entry of a partition; NaN for a failure. */
export function entry(partition) {
  return table.entry(partition);
}

/** Replaces a partition's entry `old` by `fresh`; 0 if its entry was not `old`. */
export function swap(partition, old, fresh) {
  return table.swap(partition, old, fresh);
}
