// Tests that 64-bit integers in JSON stay exact, both in engines that pass the source text of numbers to a reviver and
// in engines that do not.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { withBigints } from "polyflake/json";
import { assertError } from "./assertions.mjs";
import { browse, skipReason } from "./browser.mjs";

const BIG_INTEGER = 4594531474933654033n;
const LIMITS = [-(1n << 63n), (1n << 63n) - 1n, (1n << 64n) - 1n, 1n << 53n, -(1n << 53n), 0n, -1n];
const hasRawJson = JSON.rawJSON !== undefined;
const json = withBigints(["id", "ids"]);
const asNumbers = withBigints(["id", "ids"], { numbers: true });

describe("strings, in every engine", () => {
  test("bigints are written as strings, and named members are read as bigints", () => {
    const value = {
      id: BIG_INTEGER,
      ids: [1n, [BIG_INTEGER], null],
      text: "7",
      number: 7,
      inner: [{ id: null }, { id: 0n }],
    };
    const written = json.stringify(value);
    assert.equal(
      written,
      `{"id":"${BIG_INTEGER}","ids":["1",["${BIG_INTEGER}"],null],"text":"7","number":7,"inner":[{"id":null},{"id":"0"}]}`,
    );
    assert.deepEqual(json.parse(written), value);
    assert.deepEqual(json.parse('{"id": 7, "ids": [8, "9"], "other": "9"}'), { id: 7n, ids: [8n, 9n], other: "9" });
    assert.equal(json.stringify([BIG_INTEGER], 1), `[\n "${BIG_INTEGER}"\n]`);
  });

  test("the limits of 64 bits are accepted, and values past them are rejected", () => {
    for (const limit of LIMITS) assert.deepEqual(json.parse(json.stringify({ id: limit })), { id: limit });
    for (const past of [1n << 64n, -(1n << 63n) - 1n, 10n ** 30n, 10n ** 300n]) {
      assertError("out_of_range", () => json.stringify({ a: past }), { field: "a" });
      assertError("out_of_range", () => json.parse(`{"id": "${past}"}`), { field: "id" });
    }
  });

  test("a named member must be an integer or null", () => {
    for (const text of ["", "x", "1.0", "01", "-0", "1e3", " 1", "0x10", "1n", "a".repeat(30), "\u0661"])
      assertError("not_canonical", () => json.parse(JSON.stringify({ id: text })), { field: "id" });
    for (const value of [true, {}, [{}], 1.5, [[false]]])
      assertError("invalid_type", () => json.parse(JSON.stringify({ id: value })), { field: "id" });
    for (const value of [2 ** 53, -(2 ** 60), [1, [2 ** 53]]])
      assertError("invalid_type", () => json.stringify({ id: value }), { field: "id" });
    assert.equal(json.stringify({ id: 5, other: 2 ** 53 }), '{"id":5,"other":9007199254740992}');
  });

  test("a rounded integer is rejected at every position", () => {
    const { reviver } = json;
    for (const text of [
      `{"id": ${BIG_INTEGER}}`,
      `{"other": ${BIG_INTEGER}}`,
      `[[${BIG_INTEGER}]]`,
      `${BIG_INTEGER}`,
      "9007199254740992",
    ])
      assertError("invalid_type", () => JSON.parse(text, (key, value) => reviver(key, value)));
    assertError("invalid_type", () => JSON.parse(`[${BIG_INTEGER}]`, (key, value) => reviver(key, value, {})), {
      field: "0",
    });
    assert.deepEqual(
      JSON.parse('{"id": 9007199254740991, "other": 0.5}', (key, value) => reviver(key, value)),
      { id: 9007199254740991n, other: 0.5 },
    );
  });

  test("more than 1,000 nested arrays and objects are rejected, whatever the strings contain", () => {
    const nested = (levels, inner = "") => `${"[".repeat(levels)}${inner}${"]".repeat(levels)}`;
    const strings = JSON.stringify(["[".repeat(2000), '\\"{', "\\", '"', '\\\\"'.repeat(9), "{".repeat(2000)]);
    for (const levels of [1001, 5000, 100_000]) {
      for (const text of [nested(levels), `{"id": ${nested(levels)}}`, '{"a":'.repeat(levels)])
        assert.match(assertError("invalid_type", () => json.parse(text)).message, /1000 levels/);
      assertError("invalid_type", () => json.parse(`[${strings}, ${nested(levels)}]`));
    }
    assert.equal(json.parse(nested(1000)).length, 1);
    const siblings = `[${`${nested(999)},`.repeat(9)}${strings}]`;
    assert.deepEqual(json.parse(siblings), JSON.parse(siblings));
    for (const invalid of ['"'.repeat(2001), `"${"\\".repeat(2001)}"`, "]".repeat(2000)])
      assert.throws(() => json.parse(invalid), SyntaxError);
  });

  test("invalid names, options and values are rejected, and built-in errors propagate", () => {
    for (const names of [undefined, null, "id", [1], {}, new Set(["id"])])
      assertError("invalid_type", () => withBigints(names), { field: "names" });
    assertError("unknown_field", () => withBigints([], { number: true }), { field: "number" });
    assertError("invalid_type", () => withBigints([], { numbers: 1 }), { field: "numbers" });
    for (const value of [undefined, () => 1, Symbol("s")]) assertError("invalid_type", () => json.stringify(value));
    assert.throws(() => json.parse("{"), SyntaxError);
    const circular = [];
    circular.push(circular);
    assert.throws(() => json.stringify(circular), TypeError);
    for (const name of ["__proto__", "constructor", "toString"])
      assert.deepEqual(Object.entries(json.parse(`{"${name}": 7}`)), [[name, 7]]);
  });
});

describe("numbers, if the engine provides the source text", { skip: !hasRawJson && "no source text access" }, () => {
  test("integers past 2^53 are read as bigints, named or not", () => {
    assert.deepEqual(json.parse(`{"id": ${BIG_INTEGER}, "ids": [1, ${BIG_INTEGER}]}`), {
      id: BIG_INTEGER,
      ids: [1n, BIG_INTEGER],
    });
    assert.deepEqual(json.parse(`{"other": ${BIG_INTEGER}, "list": [${-BIG_INTEGER}], "small": 7}`), {
      other: BIG_INTEGER,
      list: [-BIG_INTEGER],
      small: 7,
    });
    assert.equal(json.parse("9007199254740993"), 9007199254740993n);
    assert.deepEqual(json.parse('{"a": 1e30, "b": 9007199254740993.5, "c": -0}'), {
      a: 1e30,
      b: 9007199254740994,
      c: -0,
    });
    for (const text of [1n << 64n, -(1n << 63n) - 1n, 10n ** 30n, 10n ** 300n])
      assertError("out_of_range", () => json.parse(`[${text}]`), { field: "0" });
  });

  test("a fraction rounded to an integer is rejected in named members and lists", () => {
    const fractions = [
      "9007199254740991.4",
      "1.00000000000000000001",
      "4503599627370496.1e0",
      "70000000000000000001e-19",
    ];
    for (const fraction of [...fractions, "-1e-400", "1e-9999999999999999999999", `0.${"0".repeat(400)}1`])
      for (const text of [`{"id": ${fraction}}`, `{"ids": [1, [${fraction}]]}`, `{"id": [{"id": ${fraction}}]}`])
        assertError("invalid_type", () => json.parse(text));
    assertError("invalid_type", () => json.parse('{"id": 9007199254740991.4}'), { field: "id" });
    assert.deepEqual(json.parse('{"other": [9007199254740991.4]}'), { other: [9007199254740991] });
    for (const seven of ["7", "7.0", "7.000e0", "0.7e1", "70E-1", "700e-0002"])
      assert.deepEqual(json.parse(`{"id": ${seven}, "ids": [${seven}]}`), { id: 7n, ids: [7n] });
    for (const zero of ["0", "-0", "0.0", "0e9", "-0.00E-9"])
      assert.deepEqual(json.parse(`{"id": ${zero}}`), { id: 0n });
  });

  test("bigints are written as numbers on request", () => {
    assert.equal(
      asNumbers.stringify({ id: BIG_INTEGER, list: [1n, 7], text: "1" }),
      `{"id":${BIG_INTEGER},"list":[1,7],"text":"1"}`,
    );
    assert.equal(JSON.stringify({ id: BIG_INTEGER }, asNumbers.replacer), `{"id":${BIG_INTEGER}}`);
    assertError("out_of_range", () => asNumbers.stringify([1n << 64n]));
    BigInt.prototype.toJSON = function () {
      return String(this);
    };
    try {
      assert.equal(asNumbers.stringify({ id: BIG_INTEGER, text: "1" }), `{"id":${BIG_INTEGER},"text":"1"}`);
      assert.equal(json.stringify({ id: BIG_INTEGER }), `{"id":"${BIG_INTEGER}"}`);
    } finally {
      delete BigInt.prototype.toJSON;
    }
  });
});

test("written values round-trip", () => {
  const arbitraryBigint = fc.oneof(fc.bigInt(-(1n << 63n), (1n << 64n) - 1n), fc.constantFrom(...LIMITS));
  const isJsonSafe = (number) => !Object.is(number, -0) && (Number.isSafeInteger(number) || !Number.isInteger(number));
  const { value } = fc.letrec((tie) => ({
    number: fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }).filter(isJsonSafe)),
    leaf: fc.oneof(tie("number"), fc.string(), fc.constant(null), fc.boolean()),
    ids: fc.oneof(arbitraryBigint, fc.constant(null), fc.array(arbitraryBigint, { maxLength: 3 })),
    object: fc.record(
      { id: tie("ids"), ids: tie("ids"), a: tie("value"), b: tie("value") },
      { requiredKeys: [], noNullPrototype: true },
    ),
    value: fc.oneof({ maxDepth: 4 }, tie("leaf"), fc.array(tie("value"), { maxLength: 3 }), tie("object")),
  }));
  fc.assert(
    fc.property(value, (value) => {
      for (const its of [json, asNumbers]) {
        const text = its.stringify(value);
        assert.deepEqual(its.parse(text), value);
        assert.deepEqual(JSON.parse(text, its.reviver), value);
        assert.equal(JSON.stringify(value, its.replacer), text);
      }
    }),
  );
});

// In Node 20, access to the source text of numbers requires a flag.
test("all tests pass if the engine provides the source text of numbers", { skip: hasRawJson }, () => {
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const flags = ["--harmony-json-parse-with-source", fileURLToPath(import.meta.url)];
  const { status, stdout } = spawnSync(process.execPath, flags, { encoding: "utf8", env });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^ok \d+ - numbers, if the engine provides the source text$/m);
});

describe("in Chromium", { skip: skipReason }, () => {
  test("64-bit integers stay exact, also as numbers", async () => {
    const { page, close } = await browse("packages/js/test/types/tsconfig.json");
    try {
      const answer = await page.evaluate(async () => {
        const { withBigints } = await import("/packages/js/dist/esm/json.js");
        const json = withBigints(["id"], { numbers: true });
        const read = json.parse('{"id": 4594531474933654033, "other": [9007199254740993]}');
        return [typeof read.id, String(read.id), String(read.other[0]), json.stringify(read)];
      });
      const written = '{"id":4594531474933654033,"other":[9007199254740993]}';
      assert.deepEqual(answer, ["bigint", String(BIG_INTEGER), "9007199254740993", written]);
    } finally {
      await close();
    }
  });
});
