// Tests that batches of strings give the same results as single strings, and that errors report the first invalid
// string.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertError, NOW } from "./assertions.mjs";
import { MisreportingArray, nonTextsFor, throwingProxy } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";

const SECRET = new Uint8Array(16).fill(7);

onEachMachine(({ hotguid, randflake, sno, uuid7 }) => {
  const grant = new randflake.Grant([0, 9], 1_730_000_000, 2_803_741_000);
  /**
   * For each format: the array class, the function that parses one string, sample IDs, and the name of the property
   * that contains the packed IDs.
   */
  const FAMILIES = {
    sno: [
      sno.SnoArray,
      sno.toBytes,
      new sno.Generator({ partition: 1, testClock: () => NOW }).generateMany(2500, 7),
      "bytes",
    ],
    randflake: [
      randflake.RandflakeArray,
      (text) => new Uint8Array(BigInt64Array.of(randflake.decodeText(text)).buffer),
      new randflake.Generator(grant, SECRET, { testClock: () => NOW }).generateMany(2500),
      "ids",
    ],
    hotguid: [hotguid.HotGuidArray, hotguid.toBytes, new hotguid.Generator().generateMany(2500, 7), "bytes"],
    uuid7: [uuid7.Uuid7Array, uuid7.toBytes, uuid7.generateMany(2500), "bytes"],
  };

  for (const [family, [List, one, many, member]] of Object.entries(FAMILIES)) {
    const texts = many.texts();
    const ways = family === "randflake" ? [(some) => some] : [(some) => some, (some) => some.join("")];
    const places = [0, 1, 447, 448, 959, 960, 1023, 1024, 2499];

    test(`${family}: strings convert back to the same IDs in any number`, () => {
      for (const way of ways) {
        for (const count of [0, 1, 2, 31, 448, 449, 960, 961, 1024, 1025, 2500]) {
          const read = List.from(way(texts.slice(0, count)));
          assert(read instanceof List);
          assert.deepEqual(read[member], many[member].slice(0, read[member].length));
          assert.equal(read.length, count);
        }
        assert.deepEqual(List.from(way(texts)).texts(), texts);
      }
    });

    test(`${family}: arrays can be made from their IDs`, () => {
      assert.deepEqual(List.from([...many])[member], many[member]);
    });

    test(`${family}: an invalid string is rejected with position and index`, () => {
      for (const way of ways) {
        for (const item of places) {
          for (const [position, bad] of [
            [0, "!"],
            [3, "š"],
            [texts[item].length - 1, "\ud800"],
            [2, "２"],
            [1, "\0"],
          ]) {
            const text = texts[item].slice(0, position) + bad + texts[item].slice(position + 1);
            const { message } = assertError("invalid_character", () => one(text));
            const many = way(texts.with(item, text));
            const error = assertError("invalid_character", () => List.from(many), { position, item });
            assert.equal(error.message, `item ${item}: ${message}`);
          }
        }
      }
      const later = texts.with(2000, "").with(30, "!".repeat(texts[30].length));
      assertError("invalid_character", () => List.from(later), { item: 30, position: 0 });
    });

    test(`${family}: elements of another type or length are rejected`, () => {
      for (const value of nonTextsFor(texts[0])) {
        if (family === "randflake" && typeof value === "bigint") continue;
        const more = { item: 1500, field: "ids" };
        const { message } = assertError("invalid_type", () => List.from(texts.with(1500, value)), more);
        assert.match(message, /^item 1500: expected (bigint or )?string for `ids`, found /);
      }
      for (const text of ["", `${texts[0]}000`, "x".repeat(1 << 20)])
        assertError("invalid_length", () => List.from(texts.with(7, text)), { item: 7 });
      const shifted = texts.with(8, `${texts[8]}${texts[9][0]}000`).with(9, texts[9].slice(1));
      assertError("invalid_length", () => List.from(shifted), { item: 8 });
      assertError("invalid_type", () => List.from(new Array(3)), { item: 0, field: "ids" });
    });

    test(`${family}: values other than arrays of strings are rejected`, () => {
      for (const value of [
        undefined,
        null,
        1,
        {},
        new Set(texts),
        { length: 1, 0: texts[0] },
        throwingProxy,
        new MisreportingArray(10),
      ])
        assertError("invalid_type", () => List.from(value), { field: "ids" });
      assertError("out_of_range", () => List.from(new Array(2 ** 24 + 1)), { field: "ids" });
      assertError("out_of_range", () => List.from(new Array(2 ** 32 - 1)), { field: "ids" });
      assert.equal(List.from(texts.slice(0, 3)).length, 3);
    });

    test(`${family}: arrays and elements can call back`, () => {
      const mutatingArray = [...texts.slice(0, 5)];
      Object.defineProperty(mutatingArray, 2, { get: () => (List.from(texts), texts[2]) });
      assert.deepEqual(List.from(mutatingArray).texts(), texts.slice(0, 5));
      class OverriddenArray extends Array {
        static get [Symbol.species]() {
          throw new Error("species");
        }
        *[Symbol.iterator]() {
          throw new Error("iterator");
        }
      }
      assert.equal(List.from(OverriddenArray.from({ length: 3 }, (_, k) => texts[k])).length, 3);
    });
  }

  test("leftover characters are rejected", () => {
    for (const [List, width] of [
      [sno.SnoArray, 16],
      [hotguid.HotGuidArray, 36],
      [uuid7.Uuid7Array, 36],
    ]) {
      for (const length of [1, width - 1, width + 1])
        assertError("invalid_length", () => List.from("2".repeat(length)), { item: undefined });
    }
    assertError("out_of_range", () => sno.SnoArray.from("2".repeat(16).repeat(2 ** 24 + 1)), { field: "ids" });
  });

  test("Randflakes of every length round-trip, and invalid ones are rejected", () => {
    const edges = Array.from({ length: 64 }, (_, bits) => [1n << BigInt(bits), (1n << BigInt(bits)) - 1n]).flat();
    const ids = BigInt64Array.from(edges.map((id) => BigInt.asIntN(64, id)));
    const texts = edges.map((id) => id.toString(32));
    assert.deepEqual(new randflake.RandflakeArray(ids).texts(), texts);
    assert.deepEqual(randflake.RandflakeArray.from(texts).ids, ids);
    assert.deepEqual(randflake.RandflakeArray.from(texts.map((text, k) => (k % 3 === 0 ? ids[k] : text))).ids, ids);
    assertError("out_of_range", () => randflake.RandflakeArray.from(["1", 2n ** 63n]), { item: 1 });
    assertError("invalid_type", () => randflake.RandflakeArray.from(["1", 1n, 2]), { item: 2, field: "ids" });
    assertError("not_canonical", () => randflake.RandflakeArray.from([1n, "01"]), { item: 1 });
    assertError("not_canonical", () => randflake.RandflakeArray.from(["1", "01"]), { item: 1 });
    assertError("out_of_range", () => randflake.RandflakeArray.from(["g000000000000"]), { item: 0 });
    fc.assert(
      fc.property(fc.array(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)), (ids) => {
        const array = new randflake.RandflakeArray(BigInt64Array.from(ids));
        assert.deepEqual(array.texts(), ids.map(randflake.encodeText));
        assert.deepEqual([...randflake.RandflakeArray.from(array.texts())], ids);
      }),
    );
  });

  test("Hot Guids are read in both cases", () => {
    const texts = ["691F29D0-BBAA-DDCC-EE01-0203FFFFFF7F", "691f29d0-bbaa-ddcc-ee01-0203ffffff7f"];
    for (const given of [texts, texts.join("")])
      assert.deepEqual(hotguid.HotGuidArray.from(given).texts(), [texts[1], texts[1]]);
  });
});

onEachMachine(({ sno }) => {
  test("a column of version 8 UUIDs contains the IDs", () => {
    const ids = sno.generateMany(300);
    const uuids = ids.texts().map((id) => sno.toUuid8(id));
    const column = ids.uuid8Column();
    assert.equal(Buffer.from(column).toString("hex"), uuids.join("").replaceAll("-", ""));
    for (const given of [uuids, uuids.map((uuid) => uuid.toUpperCase()), column, Buffer.from(column)])
      assert.deepEqual(sno.SnoArray.fromUuid8(given), ids);
    assert.deepEqual(sno.SnoArray.fromUuid8([]).uuid8Column(), new Uint8Array(0));
    const field = "uuids";
    for (const given of [undefined, null, "x", uuids[0], 7, {}, new Uint16Array(16)])
      assertError("invalid_type", () => sno.SnoArray.fromUuid8(given), { field });
    assertError("invalid_length", () => sno.SnoArray.fromUuid8(column.subarray(1)), { field });
    const other = "3d3df1a5-7f0b-4d39-9f6f-0c2a6a6f5d21";
    assertError("not_canonical", () => sno.SnoArray.fromUuid8([uuids[0], other]), { item: 1 });
    assertError("invalid_length", () => sno.SnoArray.fromUuid8([uuids[0], ""]), { item: 1 });
    assertError("invalid_type", () => sno.SnoArray.fromUuid8([uuids[0], 7]), { item: 1 });
    const bytes = Uint8Array.from(column);
    bytes[16 + 15] = 1;
    assertError("not_canonical", () => sno.SnoArray.fromUuid8(bytes), { item: 1 });
  });
});
