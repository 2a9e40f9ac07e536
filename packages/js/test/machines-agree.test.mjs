// The native addon and the wasm module side by side: the same calls at the same mocked times give the same answers.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import fc from "fast-check";
import * as native from "polyflake/native";
import * as wasm from "polyflake/wasm";
import { NOW } from "./refusals.mjs";

const SECRET = Uint8Array.from({ length: 16 }, (_, k) => k);

/** Mocked `Date.now`. */
const real = Date.now;
let now = NOW;
afterEach(() => (Date.now = real));

/** The result of a call, or the code and text of its error. */
function answer(call) {
  try {
    return call();
  } catch ({ name, code, message, retryAt, written, field }) {
    return { name, code, message, retryAt, written, field };
  }
}

const FAMILIES = {
  sno: ({ sno }, options) => new sno.Generator({ partition: 7, sequenceMin: 0, sequenceMax: 9, ...options }),
  randflake: ({ randflake }, options) =>
    new randflake.Generator(new randflake.Grant(7, 1_730_000_000, 2_803_741_824), SECRET, options),
  layout: ({ layout }, options) =>
    new layout.Generator(layout.Layout.preset("sonyflake"), { bindables: { machine: 7 }, ...options }),
};

/** Calls on a generator, each with a result that can be compared. */
const ACTS = {
  generate: (ids) => ids.generate(),
  many: (ids) => Array.from(ids.generateMany(4)),
  now: (ids) => Array.from(ids.tryGenerateMany(5)),
  one: (ids) => ids.tryGenerate(),
  stats: (ids) => ids.stats(),
};

const steps = fc.array(
  fc.record({
    by: fc.oneof(fc.constantFrom(0, 1, 4, 10, 1000, -1, -4, -5000), fc.integer({ min: -20_000, max: 20_000 })),
    act: fc.constantFrom(...Object.keys(ACTS)),
  }),
  { maxLength: 30 },
);

for (const [family, make] of Object.entries(FAMILIES)) {
  test(`${family}: any walk of a mocked date`, () => {
    Date.now = () => now;
    fc.assert(
      fc.property(steps, (walk) => {
        now = NOW;
        const both = [native, wasm].map((machine) => make(machine, { clock: () => Date.now(), onExhausted: "error" }));
        for (const { by, act } of walk) {
          now += by;
          const [left, right] = both.map((ids) => answer(() => ACTS[act](ids)));
          assert.deepEqual(left, right, `${act} at ${now}`);
        }
        const [left, right] = both.map((ids) => answer(() => ids.close()));
        assert.deepEqual(left, right);
      }),
      { numRuns: 200 },
    );
  });
}

test("hotguid: all but the random bytes", () => {
  Date.now = () => now;
  const both = [native, wasm].map(({ hotguid }) => new hotguid.Generator({ clock: () => Date.now() }));
  for (const by of [0, 999, 1, 86_400_000, -1]) {
    now += by;
    const [left, right] = both.map((ids) => native.hotguid.parts(ids.generate(3)));
    assert.deepEqual([left.timestamp, left.shardKey], [right.timestamp, right.shardKey]);
    assert.notDeepEqual(left.machine, right.machine);
  }
});

test("mocked dates reach neither machine without a clock", () => {
  const before = real();
  Date.now = () => Date.UTC(2030, 0, 1);
  for (const { sno } of [native, wasm]) {
    const { unixMs } = sno.parse(new sno.Generator({ partition: 8 }).generate());
    assert(Math.abs(unixMs - before) < 60_000, `${unixMs}`);
  }
});

test("each reads what the other made", () => {
  const ids = new native.sno.Generator({ partition: 7 }).generateMany(50);
  assert.deepEqual(wasm.sno.SnoArray.from(ids.texts()).bytes, ids.bytes);
  const flakes = FAMILIES.randflake(wasm, {}).generateMany(50);
  const codecs = [native, wasm].map(({ randflake }) => new randflake.Codec(SECRET));
  for (const id of flakes) assert.deepEqual(codecs[0].inspect(id), codecs[1].inspect(id));
});
