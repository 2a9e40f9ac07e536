// Tests the package in realms that lack optional features, and with objects from other realms.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import vm from "node:vm";
import { assertError, NOW, scriptedClock } from "./assertions.mjs";
import { bundleIn, createRealm, requireIn } from "./realm.mjs";

const ID = "a7rdmuv326nct5if";

/** Globals that hosts provide and that are not part of the language. */
const HOST_GLOBALS = {
  TextDecoder,
  TextEncoder,
  atob,
  btoa,
  console,
  crypto,
  performance,
  queueMicrotask,
  setTimeout,
  structuredClone,
  URL,
};

/** Globals that the engine provides but some runtimes remove. */
const ENGINE_GLOBALS = ["Atomics", "FinalizationRegistry", "SharedArrayBuffer", "WeakRef"];

/** A non-ASCII string for the names and values in layouts. */
const WIDE_STRING = "größe 寸法 📏".repeat(6);

/** Uses all formats, with the same results in every run. */
function useAllFormats({ hotguid, layout, randflake, sno, sparx64, uuid7 }) {
  const clock = () => NOW;
  const ids = new sno.Generator({ partition: 7, testClock: clock });
  const many = ids.generateMany(100);
  assert.equal(many.texts().length, 100);
  assert.deepEqual([...sno.SnoArray.from(many.texts().join("")).bytes], [...many.bytes]);
  assertError("invalid_character", () => sno.SnoArray.from([ID, `š${ID.slice(1)}`]), { item: 1, position: 0 });
  assert.equal(sno.parse(ID).metabyte, 1);
  assert.equal(sno.fromBytes(new Uint8Array(10)), "2".repeat(16));
  assertError("invalid_character", () => sno.parse(`${ID.slice(1)}!`), { position: 15 });
  assertError("out_of_range", () => ids.generate(256), { field: "metabyte" });

  const guid = "691f29d0-bbaa-ddcc-ee01-0203ffffff7f";
  assert.equal(hotguid.parse(guid.toUpperCase()), guid);
  assert.equal(hotguid.HotGuidArray.from([guid, guid]).texts().join(), `${guid},${guid}`);

  const uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
  assert.equal(uuid7.parse(uuid.toUpperCase()), uuid);
  assert.equal(uuid7.fromBytes(uuid7.toBytes(uuid)), uuid);

  const secret = Uint8Array.from({ length: 16 }, (_, k) => k);
  const flakes = new randflake.Generator(new randflake.Grant(1, 1_730_000_000, 2_803_741_824), secret, {
    testClock: clock,
  });
  const flake = flakes.generate();
  assert.equal(flakes.inspect(flake).node, 1);
  assert.equal(randflake.decodeText(randflake.encodeText(flake)), flake);
  assert.equal(new sparx64.Sparx64(secret).encrypt(new Uint8Array(8)).length, 8);

  const fields = [{ kind: "bindable", bits: 1024, name: WIDE_STRING, type: "text" }];
  const texts = new layout.Layout({ id: "bytes", bits: 1024, fields });
  assert.equal(JSON.parse(texts.toJson()).fields[0].name, WIDE_STRING);
  assert.equal(
    texts.parse(texts.pack({ bindables: { [WIDE_STRING]: WIDE_STRING } })).bindables[WIDE_STRING],
    WIDE_STRING,
  );
  assertError("missing_field", () => texts.pack(), { field: WIDE_STRING });
  const sonyflake = new layout.Generator(layout.Layout.preset("sonyflake"), {
    testClock: clock,
    bindables: { machine: 7 },
  });
  assert.equal(sonyflake.layout.parse(sonyflake.generate()).bindables.machine, 7);
}

const ENTRIES = ["node", "native", "wasm"];

for (const entry of ENTRIES) {
  describe(entry, () => {
    test("works in a realm without host APIs", () => {
      const bare = createRealm();
      useAllFormats(requireIn(bare, entry));
      assert.equal(requireIn(bare, "decode").metabyte(ID), 1);
    });

    for (const missing of Object.keys(HOST_GLOBALS)) {
      test(`works without ${missing}`, () => {
        const { [missing]: _, ...others } = HOST_GLOBALS;
        useAllFormats(requireIn(createRealm(others), entry));
      });
    }

    test("works with an encoder without encodeInto", () => {
      class Polyfill {
        encode(text) {
          return new TextEncoder().encode(text);
        }
      }
      useAllFormats(requireIn(createRealm({ ...HOST_GLOBALS, TextEncoder: Polyfill }), entry));
    });

    for (const missing of ENGINE_GLOBALS) {
      test(`works without ${missing}`, () => {
        const context = createRealm(HOST_GLOBALS);
        vm.runInContext(`delete globalThis.${missing}`, context);
        useAllFormats(requireIn(context, entry));
      });
    }

    test("missing entropy is reported, unless the addon asks the system", () => {
      const { hotguid, sno } = requireIn(createRealm(), entry);
      if (entry !== "wasm") {
        assert.ok(hotguid.isValid(hotguid.generate()));
        return;
      }
      const { cause, message } = assertError("entropy_unavailable", () => hotguid.generate());
      assert.equal(cause.name, "ReferenceError");
      assert.match(message, /define `crypto`/);
      assertError("entropy_unavailable", () => sno.generate());
    });

    test("entropy denied in a worker's global scope names the remedy", () => {
      const scopeError = new Error("Disallowed operation called within global scope");
      const crypto = {
        getRandomValues() {
          throw scopeError;
        },
      };
      const { hotguid, sno } = requireIn(createRealm({ ...HOST_GLOBALS, crypto }), entry);
      for (const make of entry === "wasm" ? [() => sno.generate(), () => hotguid.generate()] : []) {
        const { cause, message } = assertError("entropy_unavailable", make);
        assert.equal(cause, scopeError);
        assert.match(message, /inside a handler/);
      }
    });

    test("objects of another realm are accepted", () => {
      const context = createRealm(HOST_GLOBALS);
      const { hotguid, layout, sno } = requireIn(context, entry);
      const given = new sno.Generator({
        partition: new Uint8Array([1, 2]),
        window: [new Date(NOW), new Date(NOW + 1000)],
        testClock: () => NOW,
      });
      assert.equal(given.partition, 258);
      assert.equal(hotguid.fromBytes(Buffer.alloc(16)), "00000000-0000-0000-0000-000000000000");
      assert.equal(
        layout.Layout.preset("sonyflake", { machine: 7 }).parseColumns(new BigInt64Array(2)).unixMs.length,
        2,
      );
      assertError("invalid_type", () => sno.parse(new Date()));
    });
  });
}

describe("wasm's monotonic clock", () => {
  const backwardsClock = scriptedClock(3e6, 2e6, 1e6, 0);
  const invalidClocks = { absent: undefined, "is no clock": { now: 7 }, "stands still": { now: () => 7 } };
  const wildClock = {
    throws: {
      now: () => {
        throw new Error("no");
      },
    },
    "shows no number": { now: () => "7" },
    "is NaN": { now: () => NaN },
  };
  const invalidTable = {
    "is infinite": { now: () => Infinity },
    "is negative": { now: () => -7 },
    "goes back": { now: () => backwardsClock() },
  };
  for (const [what, performance] of Object.entries({ ...invalidClocks, ...wildClock, ...invalidTable })) {
    test(`${what}: a wait is charged the requested sleeps`, () => {
      const { sno } = requireIn(createRealm({ ...HOST_GLOBALS, performance }), "wasm");
      let stalls = 0;
      const ids = new sno.Generator({
        partition: 7,
        sequenceMax: 3,
        testClock: () => NOW,
        maxWait: 3_600_000,
        onStall: () => (stalls += 1),
      });
      ids.generateMany(4);
      assertError("sequence_exhausted", () => ids.generate(), { retryAt: NOW + 4 });
      assert(stalls >= 2 && stalls <= 20, `${stalls} stalls`);
    });
  }

  test("is captured at the import", () => {
    const context = createRealm({ ...HOST_GLOBALS, performance: { now: () => performance.now() } });
    const { sno } = requireIn(context, "wasm");
    vm.runInContext("performance.now = () => { throw new Error('asked later'); }; performance = undefined;", context);
    const ids = new sno.Generator({ partition: 7, sequenceMax: 3, testClock: () => NOW, maxWait: 100 });
    ids.generateMany(4);
    const begun = performance.now();
    assertError("sequence_exhausted", () => ids.generate());
    assert(performance.now() - begun >= 100, "it waits as long as it may");
  });
});

for (const condition of ["edge-light", "workerd"]) {
  test(`${condition}: compiled modules of another realm are accepted`, async () => {
    const polyflake = await bundleIn(createRealm({ crypto }), condition);
    useAllFormats(polyflake);
    assert.equal(polyflake.sno.parse(polyflake.sno.generate(3)).metabyte, 3);
    assert(polyflake.hotguid.isValid(polyflake.hotguid.generate()));
  });
}

test("an error names the async call if a thread cannot sleep", async () => {
  const context = createRealm(HOST_GLOBALS);
  const { sno } = requireIn(context, "wasm");
  vm.runInContext(
    "Atomics.wait = () => { throw new TypeError('Atomics.wait cannot be called in this context') }",
    context,
  );
  const full = () => {
    const ids = new sno.Generator({ partition: 7, sequenceMin: 0, sequenceMax: 3, testClock: () => NOW });
    ids.tryGenerateMany(10);
    return ids;
  };
  assert.match(
    assertError("sequence_exhausted", () => full().generate()).message,
    /cannot sleep: await generateAsync, which waits$/,
  );
  assert.match(
    assertError("sequence_exhausted", () => full().generateMany(2)).message,
    /cannot sleep: await generateManyAsync, which waits$/,
  );
  assert.doesNotMatch(assertError("sequence_exhausted", () => full().tryGenerate()).message, /cannot sleep/);
  vm.runInContext("Atomics.wait = () => 'not-equal'", context);
  assert.doesNotMatch(assertError("sequence_exhausted", () => full().generate()).message, /cannot sleep/);
});
