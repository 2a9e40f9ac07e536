// Wrong values for each function: typed errors, nothing changed, everything works afterwards.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import * as decode from "polyflake/decode";
import { detached, hostile, Lying, NOT_A_NUMBER, NOT_WHOLE, notATextOf, Theirs } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";
import { NOW, refused } from "./refusals.mjs";

const ID = "a7rdmuv326nct5if";
const NOT_A_TEXT = notATextOf(ID);

onEachMachine((polyflake) => {
  const { sno } = polyflake;
  const { Generator, SnoArray } = sno;
  const ids = new Generator({ partition: 1, clock: () => NOW });

  /** Asserts that a good call works after an error, and continues after the last one. */
  function stillWell() {
    assert.equal(sno.parse(ID).metabyte, 1);
    const { sequence, len } = ids.stats();
    const expected = len === 0 ? sequence : sequence + 1;
    assert.equal(sno.parse(ids.generate()).sequence, expected);
  }

  test("texts", () => {
    for (const name of ["parse", "metabyte", "toBytes", "toUuid", "fromUuid"]) {
      for (const value of NOT_A_TEXT) refused("invalid_type", () => sno[name](value));
    }
    for (const name of ["withMetabyte", "withPartition", "withSequence"]) {
      for (const value of NOT_A_TEXT) refused("invalid_type", () => sno[name](value, 1));
    }
    for (const value of NOT_A_TEXT) {
      assert.equal(sno.isValid(value), false);
      assert.equal(decode.isValid(value), false);
      refused("invalid_type", () => decode.metabyte(value));
    }
    stillWell();
  });

  const words = { withPartition: 65_535, withSequence: 65_535, withMetabyte: 255 };
  for (const [name, most] of Object.entries(words)) {
    test(name, () => {
      for (const value of [undefined, ...NOT_A_NUMBER, ...NOT_WHOLE])
        refused("invalid_type", () => sno[name](ID, value));
      for (const value of [-1, most + 1, 2 ** 16, 2 ** 32, 2 ** 53, -(2 ** 63), 1e300]) {
        refused("out_of_range", () => sno[name](ID, value), { field: name.slice(4).toLowerCase() });
      }
      assert.equal(sno[name](ID, -0), sno[name](ID, 0));
      stillWell();
    });
  }

  test("metabytes of new IDs", () => {
    for (const make of [
      (value) => ids.generate(value),
      (value) => ids.generateMany(3, value),
      (value) => ids.generateAt(NOW, value),
    ]) {
      for (const value of [...NOT_A_NUMBER, ...NOT_WHOLE])
        refused("invalid_type", () => make(value), { field: "metabyte" });
      for (const value of [-1, 256, 2 ** 32, 2 ** 53, -1e300])
        refused("out_of_range", () => make(value), { field: "metabyte" });
      stillWell();
    }
  });

  test("counts", () => {
    for (const value of [undefined, ...NOT_A_NUMBER, ...NOT_WHOLE]) {
      refused("invalid_type", () => ids.generateMany(value), { field: "count" });
    }
    for (const value of [-1, 2 ** 24 + 1, 2 ** 31, 2 ** 32, 2 ** 53, Number.MAX_VALUE]) {
      refused("out_of_range", () => ids.generateMany(value), { field: "count" });
    }
    stillWell();
  });

  test("times", () => {
    const invalid = [undefined, ...NOT_A_NUMBER, ...NOT_WHOLE, "2026-01-01", { getTime: () => NOW }];
    for (const value of invalid) {
      for (const call of [
        () => ids.generateAt(value),
        () => ids.extendWindow(value),
        () => sno.timeRange(value, NOW),
        () => sno.timeRange(NOW, value),
        () => new Generator({ window: [value, NOW] }),
        () => new Generator({ window: [NOW, value] }),
      ]) {
        refused("invalid_type", call);
      }
    }
    stillWell();
  });

  test("options", () => {
    const options = {
      partition: { refused: NOT_A_NUMBER, outside: [-1, 65_536, 2 ** 53] },
      sequenceMin: { refused: NOT_A_NUMBER, outside: [-1, 65_536, 2 ** 53] },
      sequenceMax: { refused: NOT_A_NUMBER, outside: [-1, 65_536, 2 ** 53] },
      metabyte: { refused: NOT_A_NUMBER, outside: [-1, 256, 2 ** 53] },
      maxWait: { refused: NOT_A_NUMBER, outside: [-1, 2 ** 53] },
      onExhausted: { refused: [null, 0, {}, Symbol("s"), new String("wait")], outside: ["", "Wait", "raise"] },
      clock: { refused: [null, 0, "now", {}, Symbol("s")], outside: [] },
      window: { refused: [null, 0, "ab", {}, [], [NOW], [NOW, NOW + 4, NOW + 8], { length: 2 }], outside: [] },
    };
    for (const [field, { refused: wrong, outside }] of Object.entries(options)) {
      for (const value of wrong) refused("invalid_type", () => new Generator({ [field]: value }), { field });
      for (const value of outside) refused("out_of_range", () => new Generator({ [field]: value }), { field });
    }
    for (const value of NOT_WHOLE)
      refused("invalid_type", () => new Generator({ partition: value }), { field: "partition" });
    for (const value of [null, 0, "", true, 1n, Symbol("s"), () => 1, [1], new Map(), new Date()])
      refused("invalid_type", () => new Generator(value));
    refused("unknown_field", () => new Generator({ sequence_min: 4 }), { field: "sequence_min" });
    refused("out_of_range", () => new Generator({ sequenceMin: 10, sequenceMax: 12 }), { field: "sequenceMax" });
    refused("out_of_range", () => new Generator({ sequenceMin: 12, sequenceMax: 10 }), { field: "sequenceMax" });
    assert.throws(() => Generator({}), TypeError);
    stillWell();
  });

  test("partitions as bytes", () => {
    for (const length of [0, 1, 3]) {
      refused("invalid_length", () => new Generator({ partition: new Uint8Array(length) }), { field: "partition" });
    }
    refused("invalid_length", () => new Generator({ partition: detached() }));
    for (const value of [new Uint16Array(2), new DataView(new ArrayBuffer(2)), new ArrayBuffer(2), [1, 2]]) {
      refused("invalid_type", () => new Generator({ partition: value }), { field: "partition" });
    }
    const shared = new Uint8Array(new SharedArrayBuffer(2)).fill(1);
    assert.equal(new Generator({ partition: shared }).partition, 257);
    assert.equal(new Generator({ partition: Buffer.from([2, 1]) }).partition, 513);
  });

  test("bytes of IDs", () => {
    for (const value of [
      undefined,
      null,
      ID,
      [],
      new Array(10).fill(0),
      new ArrayBuffer(10),
      new DataView(new ArrayBuffer(10)),
      new Float64Array(10),
      new Uint8ClampedArray(10),
      new Int8Array(10),
      { length: 10 },
      hostile,
    ]) {
      refused("invalid_type", () => sno.fromBytes(value));
      refused("invalid_type", () => new SnoArray(value));
    }
    for (const length of [0, 9, 11, 20]) refused("invalid_length", () => sno.fromBytes(new Uint8Array(length)));
    refused("invalid_length", () => sno.fromBytes(detached()));
    refused("invalid_length", () => new SnoArray(new Uint8Array(11)));
    const zero = "2".repeat(16);
    assert.equal(sno.fromBytes(new Lying(10)), zero);
    assert.deepEqual(new SnoArray(new Lying(20)).texts(), [zero, zero]);
    assert.equal(sno.fromBytes(new Uint8Array(new SharedArrayBuffer(10))), zero);
    assert.equal(sno.fromBytes(new Uint8Array(new ArrayBuffer(30), 7, 10)), zero);
    stillWell();
  });

  test("an array whose bytes go away has none", () => {
    const { buffer } = ids.generateMany(3).bytes;
    const array = new SnoArray(new Uint8Array(buffer));
    structuredClone(buffer, { transfer: [buffer] });
    assert.equal(array.length, 0);
    assert.deepEqual(array.texts(), []);
    assert.equal(array.at(0), undefined);
    const resizable = new ArrayBuffer(30, { maxByteLength: 60 });
    const shrinking = new SnoArray(new Uint8Array(resizable));
    const seen = [];
    for (const text of shrinking) {
      seen.push(text);
      resizable.resize?.(10);
    }
    assert.equal(seen.length, 3, "what was read stays");
    for (const index of [undefined, ...NOT_A_NUMBER, ...NOT_WHOLE]) refused("invalid_type", () => shrinking.at(index));
  });

  test("parts", () => {
    const parts = sno.parse(ID);
    for (const field of ["tick", "tickTock", "metabyte", "partition", "sequence"]) {
      const { [field]: _, ...others } = parts;
      refused("missing_field", () => sno.fromParts(others), { field });
      for (const value of [null, "1", 1n, Symbol("s"), {}, NaN, 1.5]) {
        refused("invalid_type", () => sno.fromParts({ ...others, [field]: value }), { field });
      }
      if (field === "tickTock") continue;
      for (const value of [-1, 2 ** 39, 2 ** 53, 1e300]) {
        refused("out_of_range", () => sno.fromParts({ ...others, [field]: value }), { field });
      }
    }
    refused("invalid_type", () => sno.fromParts({ ...parts, tickTock: 1 }), { field: "tickTock" });
    for (const value of [undefined, null, 0, ID]) refused("invalid_type", () => sno.fromParts(value));
    assert.equal(sno.fromParts(parts), ID);
    stillWell();
  });

  test("snapshots", () => {
    const source = new Generator({ partition: 1, clock: () => NOW });
    source.generate();
    const snapshot = source.close();
    for (const make of [Generator.restore, Generator.importOriginal]) {
      for (const [field, value] of Object.entries(snapshot)) {
        const { [field]: _, ...others } = snapshot;
        // The original writes no format.
        if (field !== "format") refused("missing_field", () => make(others), { field });
        for (const wrong of [null, "1", 1n, Symbol("s"), 1.5, NaN, {}]) {
          refused("invalid_type", () => make({ ...others, [field]: wrong }), { field });
        }
        if (field === "partition") continue;
        for (const outside of [-1, 2 ** 53, 1e300]) {
          refused("out_of_range", () => make({ ...others, [field]: outside }), { field });
        }
        assert.equal(typeof value, "number");
      }
      for (const partition of [[1], [1, 2, 3], [1.5, 0], ["1", "2"]])
        refused("invalid_type", () => make({ ...snapshot, partition }));
      for (const partition of [
        [-1, 0],
        [0, 256],
      ])
        refused("out_of_range", () => make({ ...snapshot, partition }), { field: "partition" });
      refused("unknown_field", () => make({ ...snapshot, closed: true }), { field: "closed" });
      refused("unknown_field", () => make(snapshot, { partition: 2 }), { field: "partition" });
      refused("unknown_field", () => make(snapshot, { sequenceMin: 2 }), { field: "sequenceMin" });
      for (const value of [undefined, null, 0, JSON.stringify(snapshot)]) refused("invalid_type", () => make(value));
    }
    stillWell();
  });

  test("whatever is handed to whatever, the answer is a value or a typed error, or what the value throws itself", async () => {
    const anything = fc.oneof(
      fc.anything({
        withBigInt: true,
        withBoxedValues: true,
        withDate: true,
        withNullPrototype: true,
        withTypedArray: true,
        withSparseArray: true,
      }),
      fc.constantFrom(...NOT_A_NUMBER, ...NOT_WHOLE, ...NOT_A_TEXT, hostile, 2 ** 53, 2 ** 32, -1),
    );
    const calls = {
      ...Object.fromEntries(Object.entries(sno).filter(([name]) => !/^([A-Z]|schema$)/.test(name))),
      ofMetabyte: sno.schema.ofMetabyte,
      Generator: (options) => new Generator(options),
      SnoArray: (bytes) => new SnoArray(bytes).texts(),
      restore: Generator.restore,
      importOriginal: Generator.importOriginal,
      generateAt: (...values) => ids.generateAt(...values),
      generateMany: (...values) => ids.generateMany(...values),
      extendWindow: (...values) => ids.extendWindow(...values),
      decode: decode.metabyte,
    };
    const call = fc.record({
      name: fc.constantFrom(...Object.keys(calls)),
      values: fc.array(anything, { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(call, async ({ name, values }) => {
        try {
          await calls[name](...values);
        } catch (error) {
          assert(error.name === "PolyflakeError" || error instanceof Theirs, `${name}: ${error.stack}`);
        }
      }),
      { numRuns: 5000 },
    );
    stillWell();
  });
});
