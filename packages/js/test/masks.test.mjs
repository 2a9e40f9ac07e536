// Columns of sno's and Hot Guid's fields, and masks: the same as ID by ID, and refusals.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { detached, hostile } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";
import { NOW, refused } from "./refusals.mjs";

const packedOf = (size) =>
  fc
    .array(fc.uint8Array({ minLength: size, maxLength: size }), { maxLength: 40 })
    .map((rows) => Uint8Array.from(rows.flatMap((row) => [...row])));

onEachMachine(({ hotguid, sno }) => {
  const { Mask, SnoArray } = sno;
  const idsOf = (metabytes) =>
    SnoArray.fromTexts(metabytes.map((metabyte) => sno.withMetabyte("93bm44ab22flxhjb", metabyte)));

  test("columns of sno's fields are those of each ID", () => {
    fc.assert(
      fc.property(packedOf(10), (packed) => {
        const ids = new SnoArray(packed);
        const parsed = ids.texts().map((text) => sno.parse(text));
        assert.deepEqual(
          ids.unixMs(),
          Float64Array.from(parsed, ({ unixMs }) => unixMs),
        );
        assert.deepEqual(
          ids.metabytes(),
          Uint8Array.from(parsed, ({ metabyte }) => metabyte),
        );
        assert.deepEqual(
          ids.partitions(),
          Uint16Array.from(parsed, ({ partition }) => partition),
        );
        assert.deepEqual(
          ids.sequences(),
          Uint16Array.from(parsed, ({ sequence }) => sequence),
        );
      }),
    );
  });

  test("columns of Hot Guid's fields are those of each ID", () => {
    fc.assert(
      fc.property(packedOf(16), (packed) => {
        const ids = new hotguid.HotGuidArray(packed);
        const parts = ids.texts().map((text) => hotguid.parts(text));
        assert.deepEqual(
          ids.timestamps(),
          Uint32Array.from(parts, ({ timestamp }) => timestamp),
        );
        assert.deepEqual(ids.machines(), Uint8Array.from(parts.flatMap(({ machine }) => [...machine])));
        assert.deepEqual(
          ids.counters(),
          Uint32Array.from(parts, ({ counter }) => counter),
        );
        assert.deepEqual(
          ids.shardKeys(),
          Uint32Array.from(parts, ({ shardKey }) => shardKey),
        );
      }),
    );
  });

  test("columns are read where the bytes lie within a larger buffer", () => {
    const all = Uint8Array.from({ length: 67 }, (_, k) => k * 5);
    assert.deepEqual(new SnoArray(all.subarray(7, 37)).partitions(), new SnoArray(all.slice(7, 37)).partitions());
    assert.deepEqual(
      new hotguid.HotGuidArray(all.subarray(3, 35)).shardKeys(),
      new hotguid.HotGuidArray(all.slice(3, 35)).shardKeys(),
    );
    assert.equal(new SnoArray(detached(40)).metabytes().length, 0);
  });

  test("masks choose IDs, and are joined", () => {
    const few = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 70 });
    fc.assert(
      fc.property(few, fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 }), (metabytes, first, second) => {
        const ids = idsOf(metabytes);
        const [one, other] = [ids.havingMetabyte(first), ids.havingMetabyte(second)];
        for (const [mask, passes] of [
          [one, (metabyte) => metabyte === first],
          [one.not(), (metabyte) => metabyte !== first],
          [one.and(other), (metabyte) => metabyte === first && metabyte === second],
          [one.or(other), (metabyte) => metabyte === first || metabyte === second],
          [one.or(one.not()).not(), () => false],
        ]) {
          const expected = metabytes.map(passes);
          assert.deepEqual(
            [mask.length, mask.count(), [...mask], mask.toJSON()],
            [ids.length, expected.filter(Boolean).length, expected, expected],
          );
          assert.deepEqual(
            ids.filter(mask).texts(),
            ids.texts().filter((_, k) => expected[k]),
          );
          assert.deepEqual([...new Mask(mask.bits, mask.length)], expected);
        }
      }),
    );
  });

  test("a time range is half-open and by ticks", () => {
    const generator = new sno.Generator({ partition: 1 });
    const ids = SnoArray.fromTexts([-12, -8, -4, 0, 4, 8, 12].map((ms) => generator.generateAt(NOW + ms)));
    assert.deepEqual([...ids.inTimeRange(NOW, NOW + 4)], [false, false, false, true, false, false, false]);
    assert.equal(ids.inTimeRange(NOW - 12, NOW + 13).count(), 7);
    assert.equal(ids.filter(ids.inTimeRange(new Date(NOW), new Date(NOW + 8))).unixMs()[0], NOW);
    for (const wrong of [
      [NOW, NOW],
      [NOW + 1, NOW],
    ])
      refused("out_of_range", () => ids.inTimeRange(...wrong));
    refused("time_out_of_range", () => ids.inTimeRange(0, NOW));
    for (const wrong of [undefined, null, "1", NaN])
      refused("invalid_type", () => ids.inTimeRange(wrong, NOW), { field: "start" });
    const last = sno.timeRange(3_461_327_255_548, 3_461_327_255_552).lowest;
    const far = SnoArray.fromTexts([last, "2222222222222222"]);
    assert.deepEqual([...far.unixMs()], [3_461_327_255_548, 1_262_304_000_000]);
    assert.deepEqual([...far.inTimeRange(3_461_327_255_548, 3_461_327_255_552)], [true, false]);
  });

  test("masks and their arguments are checked", () => {
    const ids = idsOf([1, 2, 3]);
    const [mask, short] = [ids.havingMetabyte(1), idsOf([1, 2]).havingMetabyte(1)];
    for (const use of [() => ids.filter(short), () => mask.and(short), () => short.or(mask)])
      refused("invalid_length", use);
    for (const wrong of [
      undefined,
      null,
      true,
      [true],
      new Uint8Array(1),
      {},
      Object.create(Mask.prototype),
      hostile,
    ]) {
      for (const use of [() => ids.filter(wrong), () => mask.and(wrong), () => mask.or(wrong)])
        refused("invalid_type", use);
    }
    for (const [metabyte, code] of [
      [256, "out_of_range"],
      [-1, "out_of_range"],
      [1.5, "invalid_type"],
      ["1", "invalid_type"],
    ]) {
      refused(code, () => ids.havingMetabyte(metabyte), { field: "metabyte" });
    }
    refused("invalid_length", () => new Mask(new Uint8Array(1), 9), { field: "bits" });
    refused("invalid_length", () => new Mask(new Uint8Array(2), 8), { field: "bits" });
    refused("out_of_range", () => new Mask(new Uint8Array(0), -1), { field: "length" });
    refused("invalid_type", () => new Mask([1], 1), { field: "bits" });
    assert.equal(new Mask(Uint8Array.of(0xff), 3).count(), 3);
    const bits = Uint8Array.of(1);
    const copied = new Mask(bits, 8);
    bits[0] = 0;
    copied.bits[0] = 0;
    assert.deepEqual([copied.count(), copied.at(0), copied.at(-1), copied.at(8)], [1, true, false, undefined]);
    const { count } = mask;
    const { metabytes } = ids;
    for (const taken of [count, metabytes]) refused("invalid_type", () => taken(), { field: "this" });
  });
});
