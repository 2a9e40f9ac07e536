/**
 * The functions that the wasm machine imports. They read the time, sleep, call users' clocks by number, and access the
 * table of default partitions.
 */

/**
 * `Date.now` as it was at import time. Generators must not use a mock that a test installs later, because their time
 * never moves backwards. To use mocked time, pass a clock to the generator.
 */
const systemTime = /* @__PURE__ */ (() => Date.now)();

/** The longest step of any browser's clock, in milliseconds. */
const LONGEST_STEP = 100;
/** The last reading of {@link now}. */
let latestTime = 0;
/** The shortest step between two readings of {@link now}. It starts at the longest step. */
let shortestStep = LONGEST_STEP;
/** The number of successive readings that were multiples of {@link shortestStep}. */
let multiples = 0;
let isMeasured = false;

/** Returns the system time in Unix milliseconds, and records how far it has advanced. */
export function now() {
  const ms = systemTime();
  if (ms !== latestTime) recordStep(ms);
  return ms;
}

function recordStep(ms) {
  const passed = ms - latestTime;
  latestTime = ms;
  if (passed > 0 && passed < shortestStep) [shortestStep, multiples] = [passed, 0];
  multiples = ms % shortestStep === 0 ? multiples + 1 : 0;
}

/** `performance.now` as it was at import time. */
const monotonicNow = /* @__PURE__ */ (() => {
  const { performance } = globalThis;
  const now = performance?.now;
  return () => now.call(performance);
})();
/** The last reading of `elapsed`. */
let latestReading = 0;

/** Clocks by number, starting with 1. 0 is the system clock. */
const clocks = /* @__PURE__ */ new Map();
let lastClockNumber = 0;
/** The cell that a sleeping thread waits on. It is never notified. */
let cell;

/**
 * Stores the functions of a generator's clock, which are `read()` and, if present, `stalled(...)`. Returns the clock's
 * number.
 */
export function keep(clock) {
  clocks.set(++lastClockNumber, clock);
  return lastClockNumber;
}

/** Removes the functions of a generator's clock. */
export function forget(number) {
  clocks.delete(number);
}

/**
 * Returns the time in Unix milliseconds, or NaN if the clock throws, which happens only if the stack overflows.
 */
export function read(number) {
  try {
    return number === 0 ? now() : clocks.get(number).read();
  } catch {
    return NaN;
  }
}

/**
 * Returns monotonic milliseconds since an arbitrary moment. Returns NaN if no monotonic clock exists, if its reading is
 * not a finite number, or if the reading is less than the previous reading.
 */
export function elapsed() {
  try {
    const ms = monotonicNow();
    return Number.isFinite(ms) && ms >= latestReading ? (latestReading = ms) : NaN;
  } catch {
    return NaN;
  }
}

/**
 * Returns the step of the system time in milliseconds: 100 in some browsers that resist fingerprinting, usually 1. It is
 * the shortest step so far. If that step has a fraction, as with 60 steps per second, it is rounded up, because some
 * steps are a millisecond longer than others. The readings of such a clock are not multiples of the step, except by
 * chance.
 *
 * If no short step has been observed, for example because the program rarely generates IDs, the function reads the clock
 * for up to a few milliseconds, once.
 */
export function step() {
  if (shortestStep > 1 && !isMeasured) {
    isMeasured = true;
    try {
      const start = now();
      for (let reads = 0; reads < MAX_MEASURING_READINGS && now() === start; ) reads++;
    } catch {
      // The stack overflowed. The module must not see the error.
    }
  }
  const isWhole = shortestStep === 1 || multiples > (shortestStep === LONGEST_STEP ? 0 : 3);
  return isWhole ? shortestStep : shortestStep + 1;
}

/** Reports that a call has to wait. Returns 1 if the call may wait, otherwise 0. */
export function stalled(number, reason, unixMs, calls, sleptMs) {
  try {
    return clocks.get(number)?.stalled?.(reason, unixMs, calls, sleptMs) ?? 1;
  } catch {
    return 0;
  }
}

/**
 * Waits on a cell for at most `ms` milliseconds. Throws on a thread that cannot sleep, such as the main thread of a
 * page.
 */
function pause(ms) {
  cell ??= new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(cell, 0, 0, ms);
}

/** Returns 1 if the runtime lets this thread sleep, otherwise 0. */
export function sleeps() {
  try {
    pause(0);
    return 1;
  } catch {
    return 0;
  }
}

/**
 * The number of consecutive equal readings after which a clock counts as stopped. This many readings take about a
 * millisecond.
 */
const MAX_STILL_READINGS = 20_000;

/** The number of readings after which {@link step} stops measuring. This many readings take about three milliseconds. */
const MAX_MEASURING_READINGS = 60_000;

/**
 * Sleeps. If the thread cannot sleep, reads the clock until the time has passed. If the clock has stopped, the function
 * returns soon, because the number of equal readings is limited.
 */
export function sleep(ms) {
  try {
    pause(ms);
  } catch {
    const end = elapsed() + ms;
    let last = NaN;
    for (let still = 0; still < MAX_STILL_READINGS; ) {
      const now = elapsed();
      if (!(now < end)) return;
      still = now === last ? still + 1 : 0;
      last = now;
    }
  }
}

/**
 * The table of default partitions or the source of keys that was passed to the module. The functions of both objects
 * never throw.
 */
let table;

/** Passes a table of default partitions or a source of keys to the module. */
export function lend(lent) {
  table = lent;
}

/**
 * Returns 16 bits of a key by their index. Index 0 creates a new key. Returns NaN if no source was passed, or on
 * failure.
 */
export function word(index) {
  return table ? table.word(index) : NaN;
}

/** Returns 16 random bits. Returns NaN if no table was passed, or on failure. */
export function random() {
  return table ? table.random() : NaN;
}

/** Returns the partition to check next, or NaN on failure. */
export function next() {
  return table.next();
}

/** Returns a partition's entry, or NaN on failure. */
export function entry(partition) {
  return table.entry(partition);
}

/** Replaces a partition's entry with `fresh` if the entry is `old`. Returns 0 if the partition has a different entry. */
export function swap(partition, old, fresh) {
  return table.swap(partition, old, fresh);
}
