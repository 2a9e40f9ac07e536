// Tests the ID schemas through the Standard Schema interface, as other libraries call them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { layout, sno } from "polyflake";
import * as decode from "polyflake/decode";
import * as schema from "polyflake/schema";
import { assertError } from "./assertions.mjs";
import { onEachMachine } from "./machines.mjs";

const ID = "a7rdmuv326nct5if"; // metabyte 1
const FLAKE = "3vgoe12ccb8gh";
const GUID = "691f29d0-bbaa-ddcc-ee01-0203ffffff7f";
const UUID = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
const TARGETS = ["draft-2020-12", "draft-07", "openapi-3.0"];

const validate = (its, value) => its["~standard"].validate(value);
const pattern = (its, side = "input") => its["~standard"].jsonSchema[side]({ target: "draft-07" }).pattern;

/** Asserts that a value is rejected with a code, and returns its only issue. */
function issue(code, its, value) {
  const { issues } = validate(its, value);
  assert.equal(issues?.length, 1, `expected ${code}`);
  assert.equal(issues[0].code, code, issues[0].message);
  assert.match(issues[0].message, /^[^A-Z].*[^.]$/s);
  return issues[0];
}

const NON_STRINGS = [undefined, null, 0, true, {}, [], new String(ID), Symbol("s"), () => ID];

describe("schemas", () => {
  test("implement Standard Schema and JSON Schema for each target", () => {
    for (const its of [schema.sno, schema.sno.ofMetabyte(1), schema.randflake, schema.hotguid, schema.uuid7]) {
      const { version, vendor, jsonSchema } = its["~standard"];
      assert.deepEqual([version, vendor], [1, "polyflake"]);
      for (const target of TARGETS) {
        const { type, pattern, examples, example = examples[0] } = jsonSchema.input({ target });
        assert.equal(type, "string");
        assert.match(example, new RegExp(pattern));
        assert.equal(validate(its, example).issues, undefined);
        assert.equal(examples === undefined, target === "openapi-3.0");
      }
      assertError("out_of_range", () => jsonSchema.input({ target: "draft-04" }), { field: "target" });
    }
    assertError("invalid_type", () => schema.randflake["~standard"].jsonSchema.output({ target: "draft-07" }));
  });

  test("return an ID, or an issue with code and position", () => {
    assert.deepEqual(validate(schema.sno, ID), { value: ID });
    assert.deepEqual(validate(schema.randflake, FLAKE), { value: decode.randflake.decodeText(FLAKE) });
    assert.deepEqual(validate(schema.randflake, -1n), { value: -1n });
    assert.deepEqual(validate(schema.hotguid, GUID.toUpperCase()), { value: GUID });
    assert.deepEqual(validate(schema.uuid7, UUID.toUpperCase()), { value: UUID });
    issue("not_canonical", schema.uuid7, GUID);
    assert.deepEqual(issue("invalid_length", schema.sno, "a7"), {
      message: "expected length 16, found 2",
      code: "invalid_length",
    });
    assert.equal(issue("invalid_character", schema.sno, `${ID.slice(1)}!`).position, 15);
    assert.equal(issue("invalid_character", schema.hotguid, `${GUID.slice(1)}g`).position, 7);
    issue("not_canonical", schema.randflake, "01");
    issue("out_of_range", schema.randflake, "g000000000000");
    issue("out_of_range", schema.randflake, 1n << 63n);
    for (const its of [schema.sno, schema.sno.ofMetabyte(1), schema.hotguid, schema.randflake, schema.uuid7])
      for (const value of NON_STRINGS)
        assert.match(issue("invalid_type", its, value).message, /^expected string, found /);
    issue("invalid_type", schema.sno, 1n);
  });

  test("of metabytes reject other IDs", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(255), { minLength: 1, maxLength: 3 }), fc.nat(255), (metabytes, other) => {
        const its = schema.sno.ofMetabyte(...metabytes);
        for (const metabyte of [...metabytes, other]) {
          const id = decode.withMetabyte(ID, metabyte);
          const isExpected = metabytes.includes(metabyte);
          assert.equal(new RegExp(pattern(its)).test(id), isExpected);
          if (isExpected) assert.deepEqual(validate(its, id), { value: id });
          else assert.match(issue("out_of_range", its, id).message, new RegExp(`found ${metabyte}$`));
        }
        assert.equal(
          decode.metabyte(its["~standard"].jsonSchema.output({ target: "draft-07" }).examples[0]),
          metabytes[0],
        );
      }),
    );
    issue("invalid_character", schema.sno.ofMetabyte(1), "a7rdmuv326nct5i!");
    assertError("out_of_range", () => schema.sno.ofMetabyte());
    assertError("out_of_range", () => schema.sno.ofMetabyte(1, 256), { field: "metabyte" });
    assertError("invalid_type", () => schema.sno.ofMetabyte("1"), { field: "metabyte" });
  });

  test("agree with the parsers, as do their regular expressions", () => {
    const unit = fc.constantFrom(..."0123456789abcdefghijklmnopqrstuvwxyzAFG-! ");
    const near = (text) =>
      fc
        .array(fc.tuple(fc.nat(text.length), unit), { maxLength: 2 })
        .map((changes) => changes.reduce((text, [at, to]) => text.slice(0, at) + to + text.slice(at + 1), text));
    const readers = [
      [schema.sno, ID, decode.parse],
      [schema.hotguid, GUID, decode.hotguid.parse],
      [schema.uuid7, UUID, decode.uuid7.parse],
      [schema.randflake, FLAKE, decode.randflake.decodeText],
    ];
    for (const [its, sample, read] of readers) {
      fc.assert(
        fc.property(fc.oneof(near(sample), fc.string({ unit, maxLength: 40 })), (text) => {
          let code;
          try {
            read(text);
          } catch (error) {
            code = error.code;
          }
          const { issues } = validate(its, text);
          assert.equal(issues?.[0].code, code);
          // The regular expression does not check whether a Randflake string is canonical or fits in 64 bits.
          const isNumber = its === schema.randflake && ["not_canonical", "out_of_range"].includes(code);
          assert.equal(new RegExp(pattern(its)).test(text), issues === undefined || isNumber, text);
        }),
      );
    }
    assert.match(GUID, new RegExp(pattern(schema.hotguid, "output")));
    assert.doesNotMatch(GUID.toUpperCase(), new RegExp(pattern(schema.hotguid, "output")));
  });

  test("propagate errors that are not about the value", () => {
    const throwingProxy = new Proxy(layout.Layout.preset("discord").schema, {});
    assert.equal(validate(throwingProxy, 1n).value, 1n);
    const overflowStack = () => {
      try {
        return overflowStack();
      } catch {
        return validate(schema.sno, ID);
      }
    };
    assert.deepEqual(overflowStack(), { value: ID });
  });
});

onEachMachine((polyflake) => {
  test("the formats have the same schemas with the same results", () => {
    for (const family of ["sno", "randflake", "hotguid", "uuid7"]) {
      const [own, shared] = [polyflake[family].schema, schema[family]];
      assert.deepEqual(Object.keys(own), Object.keys(shared));
      for (const value of [ID, FLAKE, GUID, "", 1n, null])
        assert.deepEqual(validate(own, value), validate(shared, value));
    }
  });

  test("an integer layout validates integers and decimal strings", () => {
    const { schema: its } = polyflake.layout.Layout.preset("twitter");
    for (const id of [1541815603606036480n, 0n, -1n, (1n << 63n) - 1n, -(1n << 63n)]) {
      assert.deepEqual(validate(its, id), { value: id });
      assert.deepEqual(validate(its, `${id}`), { value: id });
      assert.match(`${id}`, new RegExp(pattern(its)));
    }
    for (const text of ["", "01", "-0", "+1", "1.0", "1e3", " 1", "0x1", "9".repeat(21), "\u0661"]) {
      issue("not_canonical", its, text);
      assert.doesNotMatch(text, new RegExp(pattern(its)));
    }
    for (const id of ["9223372036854775808", "-9223372036854775809", 1n << 63n, 1n << 64n])
      issue("out_of_range", its, id);
    for (const value of [1, 2 ** 53, null, undefined, new Uint8Array(8), {}]) issue("invalid_type", its, value);
    assertError("invalid_type", () => its["~standard"].jsonSchema.output({ target: "draft-07" }));
  });

  test("a byte layout validates bytes and hexadecimal strings", () => {
    const fields = [{ kind: "bindable", bits: 16, name: "text", type: "text" }];
    const { schema: its } = new polyflake.layout.Layout({ id: "bytes", bits: 16, fields });
    assert.deepEqual(validate(its, "6162"), { value: Uint8Array.of(0x61, 0x62) });
    assert.deepEqual(validate(its, Uint8Array.of(0x61, 0x62)).value, Uint8Array.of(0x61, 0x62));
    assert.equal(pattern(its), "^[0-9a-f]{4}$");
    for (const text of ["616", "61GG", "61FF"]) issue("not_canonical", its, text);
    issue("invalid_length", its, "616263");
    issue("invalid_length", its, new Uint8Array(3));
    issue("invalid_character", its, "ffff");
    for (const value of [1n, 1, null, undefined, [0, 1]]) issue("invalid_type", its, value);
  });

  test("a layout's schema is cached and needs its receiver", () => {
    const its = polyflake.layout.Layout.preset("twitter");
    assert.equal(its.schema, its.schema);
    const { get } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(its), "schema");
    assertError("invalid_type", () => get.call({}), { field: "this" });
  });
});

test("generated IDs are valid", () => {
  for (const id of sno.SnoArray.from([ID, sno.generate(255)]))
    assert.deepEqual(validate(sno.schema, id), { value: id });
});
