// Tests the README's recipe for mocked time.
import { sno } from "polyflake";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

const NEW_YEAR = Date.UTC(2030, 0, 1);
const STARTED_AT = Date.now();
const newIdTime = () => sno.parse(sno.generate()).unixMs;
const isNow = (ms) => Math.abs(ms - STARTED_AT) < 3_600_000;

beforeEach(() => sno.setDefaultGenerator(new sno.Generator({ partition: 7, testClock: () => Date.now() })));

afterEach(() => {
  sno.setDefaultGenerator(undefined);
  vi.useRealTimers();
  expect(isNow(newIdTime())).toBe(true);
});

test("fake timers set the time of IDs", () => {
  vi.useFakeTimers({ now: NEW_YEAR });
  expect(newIdTime()).toBe(NEW_YEAR);
  vi.advanceTimersByTime(1000);
  expect(newIdTime()).toBe(NEW_YEAR + 1000);
  vi.setSystemTime(NEW_YEAR - 4000);
  expect(newIdTime()).toBe(NEW_YEAR - 4000);
});

test("a generator without a clock ignores fake timers", () => {
  vi.useFakeTimers({ now: NEW_YEAR });
  sno.setDefaultGenerator(undefined);
  expect(isNow(newIdTime())).toBe(true);
});
