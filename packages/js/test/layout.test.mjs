// Tests custom layouts in JavaScript: descriptions that JSON cannot express, values of JavaScript types, names, and
// `Date` objects. tests/conformance tests the vectors and random layouts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertError, NOW } from "./assertions.mjs";
import { MisreportingArray, nonTextsFor, throwingProxy } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";

const SNOWFLAKE_DESCRIPTION = {
  id: "integer",
  bits: 64,
  fields: [
    { kind: "unused", bits: 1 },
    { kind: "timestamp", bits: 41, tick: "1ms", epoch_ms: 1_483_228_800_000 },
    { kind: "constant", bits: 5, name: "region", value: 1 },
    { kind: "bindable", bits: 5, name: "worker_id" },
    { kind: "sequence", bits: 12 },
  ],
};
const WIDE_DESCRIPTION = {
  id: "bytes",
  bits: 256,
  fields: [
    { kind: "timestamp", bits: 48, tick: "1ms", epoch_ms: 0 },
    { kind: "constant", bits: 16, name: "tag", type: "text", value: "hi" },
    { kind: "bindable", bits: 72, name: "n" },
    { kind: "bindable", bits: 24, name: "hash", type: "bytes" },
    { kind: "bindable", bits: 64, name: "text", type: "text", invert: true },
    { kind: "sequence", bits: 32, start: 7 },
  ],
};
const BINDABLES = { n: 2n ** 72n - 1n, hash: Buffer.from("abc"), text: "Grüße" };
const SNOWFLAKE_JSON =
  '{"id":"integer","bits":64,"fields":[{"kind":"unused","bits":1},' +
  '{"kind":"timestamp","bits":41,"tick":"1ms","epoch_ms":1483228800000},' +
  '{"kind":"constant","bits":5,"name":"region","value":1},{"kind":"bindable","bits":5,"name":"worker_id"},' +
  '{"kind":"sequence","bits":12,"start":0}]}';

const snowflakeWith = (changes) => ({ ...SNOWFLAKE_DESCRIPTION, ...changes });
const descriptionWithField = (field) => snowflakeWith({ fields: [{ bits: 64, ...field }] });
const cyclicArray = [];
cyclicArray.push(cyclicArray);
const deeplyNestedDescription = Array.from({ length: 100_000 }).reduce((inner) => ({ fields: inner }), {});

/** Descriptions that JSON cannot express, or that JSON.stringify would change. */
const BAD_DESCRIPTIONS = {
  "bits that are not a number": snowflakeWith({ bits: NaN }),
  "bits that are no integer": snowflakeWith({ bits: 64.5 }),
  "bits past 2^53": snowflakeWith({ bits: 2 ** 60 }),
  "bits past 64 bits": snowflakeWith({ bits: 2n ** 200n }),
  "fields of a set": snowflakeWith({ fields: new Set([1]) }),
  "a hole": snowflakeWith({ fields: [, ...SNOWFLAKE_DESCRIPTION.fields] }),
  "a name of a lone surrogate": descriptionWithField({ kind: "bindable", name: "\ud800" }),
  "a member of a lone surrogate": { "\udfff": 1 },
  "a function": snowflakeWith({ bits: () => 64 }),
  "a symbol": snowflakeWith({ id: Symbol("integer") }),
  "bytes of a value": descriptionWithField({ kind: "constant", value: new Uint8Array(8) }),
  "a rounded value": descriptionWithField({ kind: "constant", value: 2 ** 53 + 2 }),
  "a loop": snowflakeWith({ fields: cyclicArray }),
  depth: deeplyNestedDescription,
  nothing: undefined,
  null: null,
  "a number": 7,
  "a text": SNOWFLAKE_JSON,
};

const BAD_TEXTS = {
  "no JSON": "{",
  "nothing at all": "",
  "more than JSON": `${SNOWFLAKE_JSON}x`,
  null: "null",
  "a float that is whole": SNOWFLAKE_JSON.replace('"bits":64', '"bits":64.0'),
  "an exponent": SNOWFLAKE_JSON.replace('"bits":64', '"bits":64e0'),
  "a fraction": SNOWFLAKE_JSON.replace('"bits":64', '"bits":6.4'),
  "minus zero": SNOWFLAKE_JSON.replace('"start":0', '"start":-0'),
  "past 2^53": SNOWFLAKE_JSON.replace('"value":1', '"value":9007199254740993'),
  "a member twice": SNOWFLAKE_JSON.replace('"bits":64', '"bits":64,"bits":64'),
  "a member twice, spelt otherwise": SNOWFLAKE_JSON.replace('"bits":64', '"bits":64,"b\\u0069ts":64'),
  depth: `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
};

onEachMachine(({ layout }) => {
  const { Layout } = layout;
  const snowflake = new Layout(SNOWFLAKE_DESCRIPTION);
  const wideLayout = new Layout(WIDE_DESCRIPTION);
  /** Creates a layout with a single 16-bit field. */
  const layoutWithField = (field) => new Layout({ id: "bytes", bits: 16, fields: [{ bits: 16, ...field }] });

  test("descriptions accept JSON-like values and large integers", () => {
    assert.equal(snowflake.toJson(), SNOWFLAKE_JSON);
    assert.deepEqual(
      [snowflake.bits, snowflake.isInteger, wideLayout.bits, wideLayout.isInteger],
      [64, true, 256, false],
    );
    const fields = [
      { kind: "unused", bits: 60, name: undefined },
      { kind: "sequence", bits: 4n, start: "3" },
    ];
    assert.equal(
      new Layout({ id: "integer", bits: -0 + 64, fields }).toJson(),
      '{"id":"integer","bits":64,"fields":[{"kind":"unused","bits":60},{"kind":"sequence","bits":4,"start":3}]}',
    );
    for (const value of [2n ** 63n, String(2n ** 63n)]) {
      const its = new Layout({
        id: "bytes",
        bits: 72,
        fields: [{ kind: "constant", bits: 72, name: 'a"\\\n', value }],
      });
      assert(its.toJson().includes(`"value":"${2n ** 63n}"`));
      assert.equal(Layout.fromJson(its.toJson()).toJson(), its.toJson());
    }
    const spaced = SNOWFLAKE_JSON.replaceAll(":", " :\n").replaceAll(",", "\t,");
    assert.equal(Layout.fromJson(spaced).toJson(), SNOWFLAKE_JSON);
  });

  for (const [what, bad] of Object.entries(BAD_DESCRIPTIONS))
    test(`an invalid description is rejected: ${what}`, () => {
      assert(assertError("invalid_layout", () => new Layout(bad)).message.length < 300);
    });

  for (const [what, bad] of Object.entries(BAD_TEXTS))
    test(`an invalid JSON string is rejected: ${what}`, () => {
      assertError("invalid_layout", () => Layout.fromJson(bad));
    });

  test("invalid arguments are rejected", () => {
    for (const value of nonTextsFor("{}")) assertError("invalid_type", () => Layout.fromJson(value));
    for (const value of nonTextsFor("twitter")) assertError("invalid_type", () => Layout.preset(value));
    for (const name of ["", "twitter ", "__proto__", "\ud800"])
      assertError("invalid_layout", () => Layout.preset(name));
    for (const fields of [null, 0, "a", [1], new Map()])
      assertError("invalid_type", () => Layout.preset("twitter", fields));
    assertError("unknown_field", () => Layout.preset("twitter", { machine: 1 }), { field: "machine" });
    assertError("out_of_range", () => Layout.preset("twitter", { worker: 32 }), { field: "worker" });
    assertError("invalid_type", () => Layout.preset("twitter", { worker: "1" }));
    assertError("out_of_range", () => layoutWithField({ kind: "constant", name: "too_large", value: 65_536 }), {
      field: "too_large",
    });
    assert.throws(() => Layout(SNOWFLAKE_DESCRIPTION), TypeError);
  });

  test("times can be numbers, bigints or Dates, and integers numbers or bigints", () => {
    const values = { timestamp: 1_483_228_800_001, sequence: 1, bindables: { worker_id: 2 } };
    const id = 4_333_569n;
    for (const timestamp of [values.timestamp, 1_483_228_800_001n, new Date(values.timestamp)])
      assert.equal(snowflake.pack({ ...values, timestamp }), id);
    assert.equal(snowflake.pack({ ...values, sequence: 1n, bindables: { worker_id: 2n } }), id);
    assert.deepEqual(snowflake.parse(id), {
      unixMs: 1_483_228_800_001n,
      timestamp: new Date(1_483_228_800_001),
      sequence: 1,
      bindables: { worker_id: 2 },
      constants: { region: 1 },
    });
    assert.equal(snowflake.parse(snowflake.pack({ ...values, constants: { region: 31 } })).constants.region, 31);
  });

  test("bytes are copied", () => {
    const id = wideLayout.pack({ timestamp: NOW, sequence: 9, bindables: BINDABLES });
    assert.equal(id.constructor, Uint8Array);
    const parsed = wideLayout.parse(id);
    assert.deepEqual(parsed, {
      unixMs: BigInt(NOW),
      timestamp: new Date(NOW),
      sequence: 9,
      bindables: { ...BINDABLES, hash: new Uint8Array(BINDABLES.hash) },
      constants: { tag: "hi" },
    });
    const bytes = id.slice();
    id.fill(0);
    const misreporting = new MisreportingArray(32);
    misreporting.set(bytes);
    for (const same of [Buffer.from(bytes), misreporting]) assert.deepEqual(wideLayout.parse(same), parsed);
  });

  test("the field and not the value decides between number and bigint", () => {
    const fields = [
      { kind: "bindable", bits: 53, name: "number" },
      { kind: "bindable", bits: 54, name: "bigint" },
      { kind: "sequence", bits: 64 },
      { kind: "unused", bits: 5 },
    ];
    const its = new Layout({ id: "bytes", bits: 176, fields });
    for (const [number, bigint, sequence] of [
      [0, 0n, 0n],
      [2 ** 53 - 1, 2n ** 54n - 1n, -1n],
      [1, 2n ** 53n + 1n, -(2n ** 63n)],
    ]) {
      const parsed = its.parse(its.pack({ sequence, bindables: { number, bigint } }));
      assert.deepEqual([parsed.bindables, parsed.sequence], [{ number, bigint }, sequence]);
      assert.deepEqual([parsed.unixMs, parsed.timestamp], [undefined, undefined]);
    }
    const all = new Layout({ id: "integer", bits: 64, fields: [{ kind: "bindable", bits: 64, name: "all" }] });
    assert.equal(all.pack({ bindables: { all: 2n ** 64n - 1n } }), -1n);
    for (const value of [2 ** 53, 2 ** 60, 1e300])
      assertError("invalid_type", () => all.pack({ bindables: { all: value } }));
    for (const value of [2n ** 64n, -(2n ** 63n) - 1n, 2n ** 100_000n]) {
      const { message } = assertError("out_of_range", () => all.pack({ bindables: { all: value } }), { field: "all" });
      assert(message.length < 200);
    }
    for (const id of [2n ** 63n, -(2n ** 63n) - 1n, 2n ** 200n])
      assertError("out_of_range", () => all.parse(id), { field: "id" });
    assertError("invalid_type", () => wideLayout.parse("1"));
    for (const id of [undefined, null, 0, 1, 2 ** 53, true, {}, [], Object(1n), throwingProxy])
      for (const { parse } of [{ parse: (id) => all.parse(id) }, { parse: (id) => wideLayout.parse(id) }])
        assertError("invalid_type", () => parse(id));
    assertError("invalid_type", () => all.parse(new Uint8Array(8)));
    assertError("invalid_type", () => wideLayout.parse(1n));
    for (const length of [0, 31, 33, 100_000])
      assertError("invalid_length", () => wideLayout.parse(new Uint8Array(length)));
  });

  test("invalid values are rejected", () => {
    const good = { timestamp: NOW, sequence: 1, bindables: { worker_id: 2 } };
    const pack = (changes) => () => snowflake.pack({ ...good, ...changes });
    for (const values of [null, 0, "a"]) assertError("invalid_type", () => snowflake.pack(values));
    assertError("unknown_field", pack({ time: 1 }), { field: "time" });
    assertError("unknown_field", pack({ timestamp: "x", bindables: { worker: 2 } }), { field: "worker" });
    assertError("unknown_field", pack({ constants: { worker_id: 1 } }), { field: "worker_id" });
    assertError("missing_field", () => snowflake.pack(), { field: "timestamp" });
    assertError("missing_field", pack({ bindables: { worker_id: undefined } }), { field: "worker_id" });
    assertError("missing_field", pack({ sequence: undefined }), { field: "sequence" });
    for (const worker_id of [null, true, "2", 1.5, NaN, new Uint8Array(1), {}, Symbol("s"), () => 1, Object(1n)])
      assertError("invalid_type", pack({ bindables: { worker_id }, sequence: 5000 }));
    for (const timestamp of [null, true, "2026", 1.5, NaN, new Date(NaN), {}])
      assertError("invalid_type", pack({ timestamp }));
    for (const timestamp of [0, -1n, 1e300, 2n ** 64n, new Date(0)])
      assertError("time_out_of_range", pack({ timestamp }));
    for (const bindables of [null, 0, "ab", [2], new Map([["worker_id", 2]])])
      assertError("invalid_type", pack({ bindables }), { field: "bindables" });
    const packText = (text) => wideLayout.pack({ timestamp: 0, sequence: 0, bindables: { ...BINDABLES, text } });
    for (const text of ["\ud800", "a\udc00b", "\udc00\ud800"])
      assertError("invalid_character", () => packText(text), { field: "text" });
    assert.equal(wideLayout.parse(packText("\ufeff😀")).bindables.text, "\ufeff😀");
  });

  test("fields can have any name", () => {
    for (const name of ["__proto__", "constructor", "", "max_wait", "ä", "\0", "a".repeat(8000), "a".repeat(20_000)]) {
      const its = layoutWithField({ kind: "bindable", name });
      const bindables = (value) => Object.fromEntries([[name, value]]);
      const id = its.pack({ bindables: bindables(513) });
      assert.deepEqual([...id], [2, 1]);
      assert.deepEqual(Object.entries(its.parse(id).bindables), [[name, 513]]);
      const field = name.length > 8192 ? undefined : name;
      assertError("out_of_range", () => its.pack({ bindables: bindables(-1) }), { field });
      assertError("missing_field", () => its.pack(), { field });
    }
  });

  test("names and values longer than the scratch area are supported", () => {
    const [name, bytes] = ["n".repeat(40_000), Uint8Array.from({ length: 127 }, (_, k) => k + 1)];
    const fields = [
      { kind: "bindable", bits: 1016, name, type: "bytes" },
      { kind: "unused", bits: 8 },
    ];
    const its = new Layout({ id: "bytes", bits: 1024, fields });
    const id = its.pack({ bindables: { [name]: bytes } });
    assert.deepEqual([id.length, id.subarray(0, 127)], [128, bytes]);
    assert.deepEqual(its.parse(id).bindables[name], bytes);
    assertError("out_of_range", () => its.pack({ bindables: { [name]: new Uint8Array(65_535).fill(1) } }));
    assert.equal(snowflake.toJson(), SNOWFLAKE_JSON);
  });

  test("IDs are limited to 1,024 bits and integers to 128", () => {
    const layout = (bits, ...fields) => new Layout({ id: "bytes", bits, fields });
    assertError("invalid_layout", () => layout(1032, { kind: "unused", bits: 1032 }));
    assertError("invalid_layout", () => layout(136, { kind: "bindable", bits: 136, name: "n" }));
    const its = layout(128, { kind: "bindable", bits: 128, name: "n" });
    for (const n of [0n, 2n ** 64n, 2n ** 127n - 1n, 2n ** 127n, 2n ** 128n - 1n])
      assert.equal(its.parse(its.pack({ bindables: { n } })).bindables.n, n);
    for (const n of [2n ** 128n, -(2n ** 63n) - 1n, -(2n ** 127n) - 1n, 10n ** 10_000n])
      assertError("out_of_range", () => its.pack({ bindables: { n } }), { field: "n" });
  });

  test("times outside the range of Date are only bigints", () => {
    const fields = [{ kind: "timestamp", bits: 64, tick: "1ms", epoch_ms: 0 }];
    const its = new Layout({ id: "integer", bits: 64, fields });
    for (const ms of [8.64e15, -8.64e15]) assert.deepEqual(its.parse(BigInt(ms)).timestamp, new Date(ms));
    for (const ms of [8_640_000_000_000_001n, -8_640_000_000_000_001n, 2n ** 63n - 1n, -(2n ** 63n)])
      assert.deepEqual([its.parse(ms).unixMs, its.parse(ms).timestamp], [ms, null]);
  });

  test("time ranges accept Dates and the bindables before the time", () => {
    assert.deepEqual(snowflake.timeRange(NOW, new Date(NOW + 10)), snowflake.timeRange(new Date(NOW), NOW + 10));
    const fields = [
      { kind: "bindable", bits: 16, name: "tenant" },
      { kind: "timestamp", bits: 48, tick: "1ms", epoch_ms: 0, invert: true },
    ];
    const newestFirst = new Layout({ id: "bytes", bits: 64, fields });
    const { lowest, highest } = newestFirst.timeRange(0, 10, { tenant: 5 });
    assert.deepEqual(
      [lowest, highest].map((id) => Buffer.from(id).toString("hex")),
      ["0005fffffffffff6", "0005ffffffffffff"],
    );
    assertError("missing_field", () => newestFirst.timeRange(0, 10), { field: "tenant" });
    assertError("unknown_field", () => newestFirst.timeRange(0, 10, { x: 1 }), { field: "x" });
    assertError("unknown_field", () => layoutWithField({ kind: "unused" }).timeRange(0, 1), { field: "timestamp" });
  });

  test("the error for an unknown preset lists the presets in order", () => {
    const listed = layout.presets();
    const { message } = assertError("invalid_layout", () => Layout.preset("other"));
    assert(message.includes(`expected one of ${listed.join(", ")}, found \`other\``), message);
    for (const name of listed) assert.equal(Layout.preset(name).bits, 64, name);
  });

  test("preset names are case-insensitive, and errors suggest the nearest one", () => {
    for (const name of ["X", "x", "Twitter"])
      assert.equal(Layout.preset(name).toJson(), Layout.preset("twitter").toJson(), name);
    const { message } = assertError("invalid_layout", () => Layout.preset("Discrod"));
    assert.match(message, /found `Discrod`; did you mean `discord`\?$/);
  });

  test("descriptions are copies", () => {
    const sonyflake = Layout.preset("sonyflake");
    const { fields } = sonyflake.describe();
    fields[0].bits = 99;
    fields.pop();
    assert.equal(sonyflake.describe().fields.length, 4);
    assert.deepEqual(sonyflake.parse(0n).bindables, { machine: 0 });
    const none = layoutWithField({ kind: "bindable", name: "a" }).describe();
    assert.deepEqual([none.perSecond, none.firstMs, none.below2_53], [undefined, undefined, true]);
  });
});
