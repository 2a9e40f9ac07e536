// Texts, bytes and fields of sno: vectors, properties, and texts that must be refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import * as decode from "polyflake/decode";
import { onEachMachine } from "./machines.mjs";
import { NOW, refused, vectors } from "./refusals.mjs";

const ID = "a7rdmuv326nct5if";

const bytesOfIds = fc.uint8Array({ minLength: 10, maxLength: 10 });

onEachMachine(({ sno }) => {
  test("reads what the original wrote", () => {
    const { cases } = vectors("sno");
    assert(cases.length > 100);
    for (const { hex, encoded, timestamp_units, timestamp_unix_ms, tick, metabyte, partition, sequence } of cases) {
      const fields = { tick: timestamp_units, tickTock: tick === 1, metabyte, partition, sequence };
      const time = { unixMs: timestamp_unix_ms, timestamp: new Date(timestamp_unix_ms) };
      assert.deepEqual(sno.parse(encoded), { ...time, ...fields });
      assert.equal(Buffer.from(sno.toBytes(encoded)).toString("hex"), hex);
      assert.equal(sno.fromBytes(Buffer.from(hex, "hex")), encoded);
      assert.equal(sno.fromParts(fields), encoded);
    }
  });

  test("refuses what the vectors refuse, at the same position", () => {
    const { cases } = vectors("sno_invalid");
    for (const { input } of cases.filter(({ input }) => input !== undefined)) {
      const bad = [...input].findIndex((character) => !/[2-9a-x]/.test(character));
      assert(!sno.isValid(input), input);
      if (input.length === 16) refused("invalid_character", () => sno.parse(input), { position: bad });
      else refused("invalid_length", () => sno.parse(input), { position: undefined });
    }
  });

  test("counts in UTF-16 units, and cuts none down to ASCII", () => {
    // The low byte of U+0161 is that of "a"; a surrogate pair counts as two units; so does each lone surrogate as one.
    for (const bad of [
      "š",
      "\uff12",
      "\u0662",
      "а",
      "\u212a",
      "\ud800",
      "\udc00",
      "\0",
      "\n",
      " ",
      "A",
      "1",
      "0",
      "y",
      "z",
      "=",
      "-",
      "_",
      "\ufeff",
    ]) {
      for (const position of [0, 7, 8, 15]) {
        const text = ID.slice(0, position) + bad + ID.slice(position + 1);
        refused("invalid_character", () => sno.parse(text), { position });
        assert.equal(sno.isValid(text), false);
        assert.equal(decode.isValid(text), false);
      }
    }
    refused("invalid_character", () => sno.parse(`${ID.slice(0, 14)}😀`), { position: 14 });
    refused("invalid_length", () => sno.parse(`${ID.slice(0, 15)}😀`));
  });

  test("refuses every other length", () => {
    for (const length of [0, 1, 12, 13, 14, 15, 17, 63, 64, 65, 1 << 20]) {
      const { message } = refused("invalid_length", () => sno.parse("2".repeat(length)));
      assert.equal(message, `expected length 16, found ${length}`);
    }
  });

  test("each of 65,536 units is right in each place exactly if it is of the alphabet", () => {
    for (let unit = 0; unit < 65_536; unit++) {
      const character = String.fromCharCode(unit);
      const position = unit % 16;
      const text = ID.slice(0, position) + character + ID.slice(position + 1);
      assert.equal(sno.isValid(text), /[2-9a-x]/.test(character), `unit ${unit}`);
    }
  });

  test("the metabyte of a text is that of its fields, here and in decode", () => {
    fc.assert(
      fc.property(bytesOfIds, (bytes) => {
        const text = sno.fromBytes(bytes);
        assert.equal(sno.metabyte(text), bytes[5]);
        assert.equal(decode.metabyte(text), bytes[5]);
        assert.equal(sno.parse(text).metabyte, bytes[5]);
      }),
    );
  });

  test("bytes, text and time sort alike", () => {
    fc.assert(
      fc.property(bytesOfIds, bytesOfIds, (a, b) => {
        const [x, y] = [sno.fromBytes(a), sno.fromBytes(b)];
        assert.equal(x < y, Buffer.compare(a, b) < 0);
        assert.equal(sno.toUuid8(x) < sno.toUuid8(y), x < y);
        if (sno.parse(x).unixMs < sno.parse(y).unixMs) assert(x < y);
        assert.deepEqual([...sno.toBytes(x)], [...a]);
      }),
    );
  });

  test("a changed field is changed alone", () => {
    fc.assert(
      fc.property(
        bytesOfIds,
        fc.integer({ min: 0, max: 255 }),
        fc.integer({ min: 0, max: 65_535 }),
        (bytes, byte, word) => {
          const text = sno.fromBytes(bytes);
          const fields = sno.parse(text);
          assert.deepEqual(sno.parse(sno.withMetabyte(text, byte)), { ...fields, metabyte: byte });
          assert.deepEqual(sno.parse(sno.withPartition(text, word)), { ...fields, partition: word });
          assert.deepEqual(sno.parse(sno.withSequence(text, word)), { ...fields, sequence: word });
          assert.equal(sno.fromParts(fields), text);
          assert.equal(sno.fromUuid(sno.toUuid(text)), text);
          assert.equal(sno.fromUuid(sno.toUuid(text).toUpperCase()), text);
          assert.equal(sno.fromUuid8(sno.toUuid8(text)), text);
          assert.match(sno.toUuid8(text), /^.{8}-.{4}-8.{3}-[89ab].{3}-.{12}$/);
        },
      ),
    );
  });

  test("a UUID holds the text's characters", () => {
    assert.equal(sno.toUuid(ID).replaceAll("-", ""), Buffer.from(ID, "latin1").toString("hex"));
    refused("invalid_length", () => sno.fromUuid(sno.toUuid(ID).replaceAll("-", "")));
    refused("invalid_character", () => sno.fromUuid(sno.toUuid(ID).replace("-", "0")), { position: 8 });
    refused("invalid_character", () => sno.fromUuid(`g${sno.toUuid(ID).slice(1)}`), { position: 0 });
    refused("invalid_character", () => sno.fromUuid("00000000-0000-0000-0000-000000000000"), { position: 0 });
  });

  test("a UUID of another version, variant or end is refused", () => {
    const uuid = BigInt(`0x${sno.toUuid8(ID).replaceAll("-", "")}`);
    const textOf = (bits) =>
      bits
        .toString(16)
        .padStart(32, "0")
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    for (let bit = 0n; bit < 128n; bit++) {
      const near = textOf(uuid ^ (1n << bit));
      if (bit < 42n || (bit >= 62n && bit < 64n) || (bit >= 76n && bit < 80n))
        refused("not_canonical", () => sno.fromUuid8(near), { field: "uuid" });
      else assert.equal(sno.toUuid8(sno.fromUuid8(near)), near);
    }
    for (const value of [1, null, undefined, {}])
      refused("invalid_type", () => sno.fromUuid8(value), { field: "uuid" });
    refused("invalid_length", () => sno.fromUuid8(""));
    refused("invalid_character", () => sno.fromUuid8(`g${sno.toUuid8(ID).slice(1)}`), { position: 0 });
  });

  test("ranges are those of the vectors", () => {
    const cases = vectors("ranges").cases.filter(({ family }) => family === "sno");
    assert(cases.length > 5);
    for (const { from_ms, to_ms, lowest, highest, error } of cases) {
      if (error) {
        refused(error, () => sno.timeRange(Number(from_ms), Number(to_ms)));
        continue;
      }
      const range = { lowest: lowest.text, highest: highest.text };
      assert.deepEqual(sno.timeRange(Number(from_ms), Number(to_ms)), range);
      assert.deepEqual(sno.timeRange(new Date(Number(from_ms)), new Date(Number(to_ms))), range);
    }
    refused("out_of_range", () => sno.timeRange(NOW, NOW));
    refused("out_of_range", () => sno.timeRange(NOW + 8, NOW));
    refused("time_out_of_range", () => sno.timeRange(0, NOW));
    refused("time_out_of_range", () => sno.timeRange(NOW, 2 ** 53));
    refused("time_out_of_range", () => sno.timeRange(NOW, 1e300));
  });

  test("the zero ID is null in JSON where that was asked for", () => {
    const zero = "2".repeat(16);
    assert.equal(sno.fromJsonValue(null, { nullIsZero: true }), zero);
    assert.equal(sno.toJsonValue(zero, { nullIsZero: true }), null);
    for (const options of [undefined, {}, { nullIsZero: false }]) {
      refused("invalid_type", () => sno.fromJsonValue(null, options));
      assert.equal(sno.toJsonValue(zero, options), zero);
    }
    for (const options of [undefined, { nullIsZero: true }]) {
      assert.equal(sno.fromJsonValue(ID, options), ID);
      assert.equal(sno.toJsonValue(ID, options), ID);
      for (const value of [undefined, 0, 1n, {}, [ID]]) {
        refused("invalid_type", () => sno.fromJsonValue(value, options));
        refused("invalid_type", () => sno.toJsonValue(value, options));
      }
      refused("invalid_length", () => sno.fromJsonValue("", options));
      refused("invalid_character", () => sno.toJsonValue(ID.toUpperCase(), options), { position: 0 });
    }
    refused("invalid_type", () => sno.toJsonValue(null, { nullIsZero: true }));
    for (const nullIsZero of [null, 1, "true"])
      refused("invalid_type", () => sno.fromJsonValue(null, { nullIsZero }), { field: "nullIsZero" });
    refused("unknown_field", () => sno.fromJsonValue(null, { zero: true }));
  });

  test("describes itself", () => {
    const { fields, ...figures } = sno.describe();
    assert.deepEqual(figures, {
      bits: 80,
      perSecond: 16_384_000n,
      perSecondInAll: 16_384_000n * 65_536n,
      firstMs: BigInt(Date.UTC(2010, 0, 1)),
      lastMs: 3_461_327_255_548n,
      sortsByTime: true,
      below2_53: false,
      below2_63: false,
    });
    assert.deepEqual(
      fields.map(({ name, kind, offset, bits }) => [name, kind, offset, bits]),
      [
        ["timestamp", "timestamp", 0, 39],
        ["tick_tock", "bindable", 39, 1],
        ["metabyte", "bindable", 40, 8],
        ["partition", "bindable", 48, 16],
        ["sequence", "sequence", 64, 16],
      ],
    );
  });

  test("metabytes in JSON that is of many things", () => {
    for (const { json, pointer, id, metabyte } of vectors("polymorphic").cases) {
      const unescaped = (name) => name.replaceAll("~1", "/").replaceAll("~0", "~");
      const names = pointer.split("/").slice(1).map(unescaped);
      const found = names.reduce((value, name) => value[name], JSON.parse(json));
      assert.equal(found, id);
      assert.equal(decode.metabyte(found), metabyte);
    }
  });
});
