// Provides assertions about errors, and clocks that return scripted times.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

/** Reads the test vector file with the given name. */
export const loadVectors = (name) =>
  JSON.parse(readFileSync(new URL(`../../../tests/vectors/${name}.json`, import.meta.url), "utf8"));

/**
 * Asserts that a call throws a `PolyflakeError` with the given code and, optionally, other properties. Returns the
 * error.
 */
export function assertError(code, call, more = {}) {
  try {
    const value = call();
    assert.fail(`expected ${code}, got ${String(value)}`);
  } catch (error) {
    assert.equal(error.name, "PolyflakeError", `expected ${code}, found ${error.stack}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, /^[^A-Z].*[^.]$/s);
    for (const [member, value] of Object.entries(more))
      assert.deepEqual(error[member], value, `${member}: ${error.message}`);
    return error;
  }
}

/** Returns the error that a promise was rejected with. */
export const rejection = (promise) =>
  promise.then(
    (value) => assert.fail(`expected a rejection, got ${String(value)}`),
    (error) => error,
  );

/** Awaits a call, asserts that it fails with a code, and returns the error. */
export async function assertRejects(code, promise, more) {
  const error = await rejection(promise);
  const rethrow = () => {
    throw error;
  };
  return assertError(code, rethrow, more);
}

/** Returns a clock that returns the given readings one after another and then repeats the last reading forever. */
export function scriptedClock(...readings) {
  let next = 0;
  return () => {
    const reading = readings[Math.min(next++, readings.length - 1)];
    return typeof reading === "function" ? reading() : reading;
  };
}

/** 2026-01-01, the start of a tick. */
export const NOW = Date.UTC(2026, 0, 1);
