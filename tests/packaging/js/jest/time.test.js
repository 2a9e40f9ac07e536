// Tests the README's recipe for mocked time with each way in which Jest can mock time.
const { sno } = require("polyflake");

const NEW_YEAR = Date.UTC(2030, 0, 1);
const newIdTime = () => sno.parse(sno.generate()).unixMs;
const STARTED_AT = Date.now();
const isNow = (ms) => Math.abs(ms - STARTED_AT) < 3_600_000;

beforeEach(() => sno.setDefaultGenerator(new sno.Generator({ partition: 7, testClock: () => Date.now() })));

afterEach(() => {
  sno.setDefaultGenerator(undefined);
  jest.restoreAllMocks();
  jest.useRealTimers();
  expect(isNow(newIdTime())).toBe(true);
});

test("modern fake timers set the time of IDs", () => {
  jest.useFakeTimers({ now: NEW_YEAR });
  expect(newIdTime()).toBe(NEW_YEAR);
  jest.advanceTimersByTime(1000);
  expect(newIdTime()).toBe(NEW_YEAR + 1000);
  jest.setSystemTime(NEW_YEAR - 4000);
  expect(newIdTime()).toBe(NEW_YEAR - 4000);
});

test("legacy fake timers do not change the time of IDs", () => {
  jest.useFakeTimers({ legacyFakeTimers: true });
  expect(isNow(newIdTime())).toBe(true);
  jest.spyOn(Date, "now").mockReturnValue(NEW_YEAR);
  expect(newIdTime()).toBe(NEW_YEAR);
});

test("a fixed clock makes the same IDs in each run", () => {
  jest.useFakeTimers({ now: NEW_YEAR });
  sno.setDefaultGenerator(new sno.Generator({ partition: 7, sequenceMin: 0, testClock: () => Date.now() }));
  expect([sno.generate(), sno.generate(1)]).toEqual(["b7uup9i22222g222", "b7uup9i22622g223"]);
});

test("a generator without a clock ignores fake timers", () => {
  jest.useFakeTimers({ now: NEW_YEAR });
  sno.setDefaultGenerator(undefined);
  expect(isNow(newIdTime())).toBe(true);
});
