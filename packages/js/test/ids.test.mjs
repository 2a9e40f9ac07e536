// Tests the strings, bytes and fields of sno IDs. tests/conformance tests the vectors.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import * as decode from "polyflake/decode";
import { assertError } from "./assertions.mjs";
import { onEachMachine } from "./machines.mjs";

const ID = "a7rdmuv326nct5if";

const idBytes = fc.uint8Array({ minLength: 10, maxLength: 10 });

onEachMachine(({ sno }) => {
  test("invalid characters are counted in UTF-16 units and never truncated", () => {
    // The low byte of U+0161 is the code of "a". A surrogate pair counts as two code units, and a lone surrogate as
    // one.
    for (const bad of ["š", "\uff12", "\u0662", "\u212a", "\ud800", "\udc00", "\0", "A", "1", "z", "=", "\ufeff"]) {
      for (const position of [0, 7, 8, 15]) {
        const text = ID.slice(0, position) + bad + ID.slice(position + 1);
        assertError("invalid_character", () => sno.parse(text), { position });
        assert.equal(decode.isValid(text), false);
      }
    }
    assertError("invalid_character", () => sno.parse(`${ID.slice(0, 14)}😀`), { position: 14 });
    assertError("invalid_length", () => sno.parse(`${ID.slice(0, 15)}😀`));
    for (const length of [0, 1, 13, 15, 17, 64, 1 << 20]) {
      const { message } = assertError("invalid_length", () => sno.parse("2".repeat(length)));
      assert.equal(message, `expected length 16, found ${length}`);
    }
  });

  test("a UTF-16 unit is valid only if it is in the alphabet", () => {
    for (let unit = 0; unit < 65_536; unit++) {
      const character = String.fromCharCode(unit);
      const position = unit % 16;
      const text = ID.slice(0, position) + character + ID.slice(position + 1);
      assert.equal(sno.isValid(text), /[2-9a-x]/.test(character), `unit ${unit}`);
    }
  });

  test("changing a field leaves the others, and strings and bytes sort identically and round-trip", () => {
    const words = fc.integer({ min: 0, max: 65_535 });
    fc.assert(
      fc.property(idBytes, idBytes, words, (bytes, others, word) => {
        const [text, other] = [bytes, others].map(sno.fromBytes);
        const fields = sno.parse(text);
        const byte = word & 255;
        assert.deepEqual(sno.parse(sno.withMetabyte(text, byte)), { ...fields, metabyte: byte });
        assert.deepEqual(sno.parse(sno.withPartition(text, word)), { ...fields, partition: word });
        assert.deepEqual(sno.parse(sno.withSequence(text, word)), { ...fields, sequence: word });
        for (const read of [sno.metabyte, decode.metabyte]) assert.equal(read(text), bytes[5]);
        assert.deepEqual([...sno.toBytes(text)], [...bytes]);
        assert.equal(text < other, Buffer.compare(bytes, others) < 0);
        assert.equal(sno.fromParts(fields), text);
        for (const uuid of [sno.toUuid(text), sno.toUuid(text).toUpperCase()]) assert.equal(sno.fromUuid(uuid), text);
        assert.equal(sno.fromUuid8(sno.toUuid8(text)), text);
      }),
    );
  });

  test("invalid UUIDs are rejected", () => {
    const uuid = sno.toUuid(ID);
    assertError("invalid_length", () => sno.fromUuid(uuid.replaceAll("-", "")));
    assertError("invalid_character", () => sno.fromUuid(uuid.replace("-", "0")), { position: 8 });
    const uuid8 = sno.toUuid8(ID);
    for (const value of [1, null, undefined, {}])
      assertError("invalid_type", () => sno.fromUuid8(value), { field: "uuid" });
    assertError("invalid_length", () => sno.fromUuid8(""));
    assertError("invalid_character", () => sno.fromUuid8(`g${uuid8.slice(1)}`), { position: 0 });
    assertError("not_canonical", () => sno.fromUuid8(`${uuid8.slice(0, 14)}4${uuid8.slice(15)}`), { field: "uuid" });
  });

  test("a time range accepts Dates or milliseconds", () => {
    const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2)];
    assert.deepEqual(sno.timeRange(new Date(from), new Date(to)), sno.timeRange(from, to));
  });

  test("the zero ID is null in JSON only on request", () => {
    const zero = "2".repeat(16);
    assert.equal(sno.fromJsonValue(null, { nullIsZero: true }), zero);
    assert.equal(sno.toJsonValue(zero, { nullIsZero: true }), null);
    for (const options of [undefined, {}, { nullIsZero: false }]) {
      assertError("invalid_type", () => sno.fromJsonValue(null, options));
      assert.equal(sno.toJsonValue(zero, options), zero);
    }
    for (const options of [undefined, { nullIsZero: true }]) {
      for (const call of [sno.fromJsonValue, sno.toJsonValue]) {
        assert.equal(call(ID, options), ID);
        for (const value of [undefined, 0, 1n, {}, [ID]]) assertError("invalid_type", () => call(value, options));
        assertError("invalid_character", () => call(ID.toUpperCase(), options), { position: 0 });
      }
    }
    assertError("invalid_type", () => sno.toJsonValue(null, { nullIsZero: true }));
    for (const nullIsZero of [null, 1, "true"])
      assertError("invalid_type", () => sno.fromJsonValue(null, { nullIsZero }), { field: "nullIsZero" });
    assertError("unknown_field", () => sno.fromJsonValue(null, { zero: true }));
  });
});
