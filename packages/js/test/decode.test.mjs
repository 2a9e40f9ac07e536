// Tests `polyflake/decode`, which has a separate implementation. It must return the same results and errors as the core
// in every engine.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import fc from "fast-check";
import * as polyflake from "polyflake";
import { layout } from "polyflake";
import * as decode from "polyflake/decode";
import * as native from "polyflake/native";
import * as wasm from "polyflake/wasm";
import { currentPlatform } from "../build/platforms.mjs";
import { assertError, loadVectors } from "./assertions.mjs";
import { browse, skipReason } from "./browser.mjs";
import { readVectors, VECTOR_FILES } from "./decode-vectors.mjs";
import { onEachMachine } from "./machines.mjs";
import { createRealm, requireIn } from "./realm.mjs";

const require = createRequire(import.meta.url);
const VECTORS = Object.fromEntries(VECTOR_FILES.map((name) => [name, loadVectors(name)]));
const ID = "a7rdmuv326nct5if";

/** The decoding functions of each format, by the format's name in the package. */
const FUNCTIONS = {
  sno: Object.entries(decode).filter(
    ([name, value]) => typeof value === "function" && !["PolyflakeError", "parseSnowflake"].includes(name),
  ),
  hotguid: Object.entries(decode.hotguid),
  randflake: Object.entries(decode.randflake),
  uuid7: Object.entries(decode.uuid7),
};

function assertAllDecoded({ answers, wrong }) {
  assert.deepEqual(wrong, []);
  assert(answers > 3000, `${answers} answers`);
}

test("hasMetabyte recognises only IDs with that metabyte", () => {
  const id = polyflake.sno.generate(24);
  assert.equal(polyflake.sno.hasMetabyte(id, 24), true);
  for (const value of [polyflake.sno.generate(25), "", id.slice(1), `${id.slice(1)}!`, 24, null, undefined])
    assert.equal(polyflake.sno.hasMetabyte(value, 24), false, `${value}`);
  assertError("out_of_range", () => polyflake.sno.hasMetabyte(id, 256), { field: "metabyte" });
  assertError("invalid_type", () => polyflake.sno.hasMetabyte(id), { field: "metabyte" });
});

test("the package exports the same functions with every backend", () => {
  for (const entry of [polyflake, native, wasm]) {
    for (const [family, functions] of Object.entries(FUNCTIONS)) {
      assert(functions.length > 1);
      for (const [name, read] of functions) assert.equal(entry[family][name], read, `${family}.${name}`);
    }
  }
  const [required, all] = [require("polyflake/decode"), require("polyflake")];
  assert.equal(all.sno.parse, required.parse);
  assert.equal(all.hotguid.parts, required.hotguid.parts);
  assert.equal(all.PolyflakeError, required.PolyflakeError);
});

describe("every vector", () => {
  test("are decoded in Node", () => assertAllDecoded(readVectors(decode, VECTORS)));

  test("a wrong answer is detected", () => {
    const { wrong } = readVectors({ ...decode, metabyte: () => 0 }, VECTORS);
    assert(wrong.length > 100);
  });

  test("are decoded without WebAssembly, host APIs or mutable builtins", () => {
    const bare = createRealm();
    vm.runInContext(
      `
      for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics", "FinalizationRegistry", "WeakRef", "escape", "unescape", "eval", "Intl"]) delete globalThis[name];
      for (const name of Object.getOwnPropertyNames(globalThis)) {
        const value = globalThis[name];
        if (typeof value === "function" && value.prototype) Object.freeze(value.prototype);
        if (Object(value) === value && value !== globalThis) Object.freeze(value);
      }`,
      bare,
    );
    const inside = vm.runInContext(`(${readVectors})`, bare);
    const read = vm.runInContext("(text) => JSON.parse(text)", bare);
    assertAllDecoded(JSON.parse(JSON.stringify(inside(requireIn(bare, "decode"), read(JSON.stringify(VECTORS))))));
  });

  test("are decoded by the whole package without WebAssembly", () => {
    for (const entry of ["wasm", "node"]) {
      const { sno, hotguid, randflake, uuid7, PolyflakeError } = requireIn(
        createRealm({ WebAssembly: undefined }),
        entry,
      );
      // Only `polyflake/decode` decodes the snowflakes of services such as Discord.
      assertAllDecoded(readVectors({ ...decode, ...sno, hotguid, randflake, uuid7, PolyflakeError }, VECTORS));
    }
  });

  test("are decoded in a page with a strict content security policy", { skip: skipReason }, async () => {
    const { page, close } = await browse("examples/web/style.css", {
      "content-security-policy": "default-src 'none'; script-src 'self'; connect-src 'self'",
    });
    try {
      const script = `(async () => {
        const { readVectors } = await import("/packages/js/test/decode-vectors.mjs");
        const json = async (name) => [name, await (await fetch("/tests/vectors/" + name + ".json")).json()];
        const vectors = Object.fromEntries(await Promise.all(${JSON.stringify(VECTOR_FILES)}.map(json)));
        return readVectors(await import("/packages/js/dist/esm/decode.js"), vectors);
      })()`;
      assertAllDecoded(await page.evaluate(script));
    } finally {
      await close();
    }
  });
});

/**
 * Returns the core's result for an ASCII string by calling the addon directly. An error is returned as its code,
 * position and message.
 */
function decodeWithCore(call, text, before = (_bytes) => undefined) {
  const bytes = area.subarray(NUMBERS * 8);
  bytes.set(Buffer.from(text, "latin1"));
  registers[COUNT] = 1;
  before(bytes);
  if (calls[call]() === 0) return undefined;
  const [position, , , , code, field, message] = registers.subarray(ERROR);
  const at = code + (field || 0);
  const messageText = Buffer.from(bytes.subarray(at, at + message))
    .toString()
    .replace("item 0: ", "");
  return [Buffer.from(bytes.subarray(0, code)).toString(), Number.isNaN(position) ? undefined : position, messageText];
}

// The register numbers, as in src/protocol.ts.
const [NUMBERS, COUNT, ERROR] = [42, 6, 32];
const RANDFLAKE_OFFSETS = 960 * 13;
new native.sno.Generator();
const addon = require(fileURLToPath(new URL(`../prebuilds/${currentPlatform().name}/polyflake.node`, import.meta.url)));
const { area, calls } = addon.attach(new Uint8Array(NUMBERS * 8 + 16 * 1024));
const registers = new Float64Array(area.buffer, area.byteOffset, NUMBERS);

/** Returns a decoding function's result for a string, in the same form as `decodeWithCore`. */
function runDecode(read, text) {
  try {
    return void read(text);
  } catch ({ code, position, message }) {
    return [code, position, message];
  }
}

/** Generates strings that consist mostly of a format's characters, with a few other ASCII characters. */
const nearlyValidTexts = (alphabet, length) =>
  fc
    .array(
      fc.oneof(
        { weight: 40, arbitrary: fc.constantFrom(...alphabet) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code)) },
      ),
      length,
    )
    .map((all) => all.join(""));

const SNO_ALPHABET = "23456789abcdefghijklmnopqrstuvwx";
const BASE32HEX_ALPHABET = "0123456789abcdefghijklmnopqrstuv";
const RUN_OPTIONS = { numRuns: 5000 };

describe("results and errors match the core's", () => {
  test("sno", () => {
    fc.assert(
      fc.property(nearlyValidTexts(SNO_ALPHABET, { minLength: 16, maxLength: 16 }), (text) => {
        const expectedError = decodeWithCore("snoFromTexts", text);
        for (const read of [decode.parse, decode.toBytes, decode.toUuid, (text) => decode.withMetabyte(text, 7)])
          assert.deepEqual(runDecode(read, text), expectedError);
        assert.equal(decode.isValid(text), expectedError === undefined);
        if (expectedError !== undefined) return;
        const bytes = native.sno.SnoArray.from([text]).bytes;
        assert.deepEqual(decode.toBytes(text), bytes);
        assert.equal(native.sno.fromBytes(bytes), text);
        assert.equal(decode.parse(text).metabyte, bytes[5]);
        assert.equal(decode.toBytes(decode.withMetabyte(text, 255 - bytes[5]))[5], 255 - bytes[5]);
      }),
      RUN_OPTIONS,
    );
  });

  test("Hot Guid", () => {
    const group = (length) => nearlyValidTexts("0123456789abcdefABCDEF", { minLength: length, maxLength: length });
    const hyphen = fc.oneof({ weight: 60, arbitrary: fc.constant("-") }, { weight: 1, arbitrary: group(1) });
    const text = fc
      .tuple(group(8), hyphen, group(4), hyphen, group(4), hyphen, group(4), hyphen, group(12))
      .map((all) => all.join(""));
    fc.assert(
      fc.property(text, (text) => {
        const expectedError = decodeWithCore("hotguidFromTexts", text);
        const { isValid, uuid8Parts, ...others } = decode.hotguid;
        for (const read of Object.values(others)) assert.deepEqual(runDecode(read, text), expectedError);
        if (expectedError !== undefined) assert.deepEqual(runDecode(uuid8Parts, text), expectedError);
        else
          assert.equal(runDecode(uuid8Parts, text)?.[0], /^.{14}8.{4}[89ab]/i.test(text) ? undefined : "not_canonical");
        assert.equal(isValid(text), expectedError === undefined);
        if (expectedError === undefined)
          assert.deepEqual(decode.hotguid.toBytes(text), native.hotguid.HotGuidArray.from([text]).bytes);
      }),
      RUN_OPTIONS,
    );
  });

  test("UUID v7", () => {
    const group = (length) => nearlyValidTexts("0123456789abcdefABCDEF", { minLength: length, maxLength: length });
    const marked = (marks) => fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...marks) }, group(1));
    const text = fc
      .tuple(group(8), group(4), marked("7"), group(3), marked("89abAB"), group(3), group(12))
      .map(([a, b, version, c, variant, d, e]) => [a, b, version + c, variant + d, e].join("-"));
    fc.assert(
      fc.property(text, (text) => {
        const expectedError = decodeWithCore("uuid7FromTexts", text);
        const { isValid, ...others } = decode.uuid7;
        for (const read of Object.values(others)) assert.deepEqual(runDecode(read, text), expectedError);
        assert.equal(isValid(text), expectedError === undefined);
        if (expectedError === undefined)
          assert.deepEqual(decode.uuid7.toBytes(text), native.uuid7.Uuid7Array.from([text]).bytes);
      }),
      RUN_OPTIONS,
    );
  });

  test("Randflake", () => {
    const offsets = (length) => (bytes) =>
      new Int32Array(bytes.buffer, bytes.byteOffset + RANDFLAKE_OFFSETS, 2).set([0, length]);
    fc.assert(
      fc.property(nearlyValidTexts(BASE32HEX_ALPHABET, { minLength: 0, maxLength: 15 }), (text) => {
        const expectedError = decodeWithCore("randflakeFromTexts", text, offsets(text.length));
        assert.deepEqual(runDecode(decode.randflake.decodeText, text), expectedError);
        if (expectedError !== undefined) return;
        const id = decode.randflake.decodeText(text);
        assert.equal(id, new BigInt64Array(area.slice(NUMBERS * 8, NUMBERS * 8 + 8).buffer)[0]);
        assert.equal(decode.randflake.encodeText(id), text);
        assert.deepEqual(new native.randflake.RandflakeArray(BigInt64Array.of(id)).texts(), [text]);
      }),
      RUN_OPTIONS,
    );
  });
});

describe("snowflakes", () => {
  const formats = layout.presets().filter((name) => name !== "x");

  test("each preset is parsed like its layout, with the same errors", () => {
    assert.equal(formats.length, 6);
    for (const name of formats) {
      const preset = layout.Layout.preset(name);
      const assertAgreement = (id) => {
        const [found, expected] = [(id) => decode.parseSnowflake(id, decode[name]), (id) => preset.parse(id)].map(
          (read) => {
            try {
              return read(id);
            } catch ({ code, position, message, field }) {
              return { code, position, message, field };
            }
          },
        );
        if ("code" in expected) return assert.deepEqual(found, expected, `${id}`);
        const { unixMs, timestamp, sequence, bindables } = expected;
        const fields = sequence === undefined ? bindables : { ...bindables, sequence };
        assert.deepEqual(found, { timestamp, unixMs: Number(unixMs), ...fields });
      };
      fc.assert(fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), assertAgreement), { numRuns: 300 });
      for (const id of [0n, 2n ** 63n, -(2n ** 63n) - 1n, 7, undefined, null, {}, Object(1n)]) assertAgreement(id);
      for (const id of ["", "-", "-0", "00", "01", "1x", "x", "--1", " 1", "9".repeat(19), "9".repeat(21), "\u0661"])
        assertAgreement(id);
    }
  });

  test("a custom format is parsed", () => {
    const own = {
      epochMs: 1000,
      tickMs: 5,
      fields: [
        ["timestamp", 40],
        ["worker", 8],
        ["sequence", 8],
      ],
    };
    assert.deepEqual(decode.parseSnowflake((3n << 16n) | 0x0201n, own), {
      timestamp: new Date(1015),
      unixMs: 1015,
      worker: 2,
      sequence: 1,
    });
  });

  test("a format that breaks a rule is rejected", () => {
    const read = (format) => decode.parseSnowflake(1n << 40n, format);
    const of = (...fields) => ({ epochMs: 0, tickMs: 1, fields });
    const time = ["timestamp", 41];
    // The widest possible field in a 64-bit layout.
    assert.deepEqual(read(of(["timestamp", 48], ["worker", 16])), {
      timestamp: new Date(2 ** 24),
      unixMs: 2 ** 24,
      worker: 0,
    });
    for (const width of [0, -1, 49])
      assertError("out_of_range", () => read(of(time, ["worker", width])), { field: "worker" });
    assertError("out_of_range", () => read(of(["timestamp", 42], ["worker", 12], ["sequence", 11])), {
      field: "timestamp",
    });
    for (const wrong of [
      undefined,
      null,
      7,
      {},
      of(),
      of(["worker", 5]),
      of(["worker", 5], ["worker", 5]),
      of(["unixMs", 5], ["worker", 5]),
      of(time, ["unixMs", 5]),
      of(time, ["worker", 5], ["worker", 5]),
      of(time, time.with(1, 5)),
      { ...of(time), fields: undefined },
      { ...of(time), fields: 7 },
      { ...of(time), fields: {} },
      { ...of(time), epochMs: undefined },
      { ...of(time), epochMs: "0" },
      { ...of(time), epochMs: 0n },
      { ...of(time), tickMs: NaN },
      { ...of(time), tickMs: 1n },
      { ...of(time), fields: "timestamp" },
      ...[1.5, NaN, "5", 5n, undefined, Symbol("5"), Object.create(null)].map((width) => of(time, ["worker", width])),
      ...[7, 5n, undefined, Symbol("worker"), Object.create(null)].map((name) => of(time, [name, 5])),
      ...[undefined, null, 7, {}, [], "worker", Symbol("worker")].map((entry) => of(time, entry)),
    ])
      assertError("invalid_layout", () => read(wrong));
  });
});

onEachMachine(({ sno }) => {
  test("an invalid byte of a UUID is named", () => {
    const uuid = sno.toUuid(ID);
    for (const [byte, shown] of [
      ["ff", "byte 0x00FF"],
      ["00", "U+0000"],
      ["21", "`!`"],
      ["7f", "U+007F"],
      ["80", "byte 0x0080"],
    ]) {
      const { message } = assertError("invalid_character", () => sno.fromUuid(uuid.slice(0, 34) + byte), {
        position: 15,
        field: "uuid",
      });
      assert.equal(message, `invalid character ${shown} at position 15`);
    }
  });
});
