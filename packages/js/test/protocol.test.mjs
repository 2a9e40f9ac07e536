// The numbers and names that Rust and TypeScript both have: slots, tags, sizes and calls.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { thisPlatform } from "../build/platforms.mjs";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const rust = read("../../../bindings-js/src/protocol.rs");
const typescript = read("../src/protocol.ts");
const camelCase = (name) => name.toLowerCase().replace(/_([a-z\d])/g, (_, letter) => letter.toUpperCase());

/** The matches of a pattern with two groups, as an object. */
const pairs = (text, pattern, nameOf = (name) => name) =>
  Object.fromEntries([...text.matchAll(pattern)].map(([, name, value]) => [nameOf(name), value]));

const flat = (record, slot) => `${record}${slot[0].toUpperCase()}${slot.slice(1)}`;

const RUST = pairs(rust, /^ {4}pub const (\w+): usize = (\d+)/gm, camelCase);
const TYPESCRIPT = Object.fromEntries(
  [...typescript.matchAll(/^export const (\w+)Slots = \{(.*?)\}/gms)].map(([, name, body]) => [
    name,
    pairs(body, /(\w+): (\d+)/g),
  ]),
);

/** Records of answers alone. */
const ANSWERS = [
  "answer",
  "made",
  "snoPartition",
  "snoStats",
  "randflakeStats",
  "randflakeClose",
  "hotguidStats",
  "tableAnswer",
  "error",
];

describe("Rust and TypeScript have the same", () => {
  test("sizes and tags", () => {
    const sizes = pairs(rust, /^pub(?:\(crate\))? const (\w+): usize = (\d+)/gm);
    const tags = pairs(rust, /const (\w+): u8 = (\d+)/g, (name) => `TAG_${name}`);
    assert.equal(Object.keys(sizes).length, 3);
    assert.equal(Object.keys(tags).length, 12);
    assert.deepEqual(pairs(typescript, /^export const (\w+) = (\d+);/gm), { ...sizes, ...tags });
  });

  test("slots, of which Rust names those that it uses one by one, and the first of others", () => {
    const slots = Object.entries(TYPESCRIPT).flatMap(([record, slots]) =>
      Object.entries(slots).map(([slot, number]) => [flat(record, slot), number]),
    );
    const named = Object.fromEntries(slots);
    assert(Object.keys(RUST).length > 50, `${Object.keys(RUST)}`);
    for (const [name, number] of Object.entries(RUST)) assert.equal(named[name], number, name);
    const rows = Object.entries(TYPESCRIPT).filter(([record, slots]) =>
      Object.keys(slots).some((slot) => !(flat(record, slot) in RUST)),
    );
    assert.deepEqual(rows.map(([record]) => record).sort(), [
      "error",
      "hotguidStats",
      "randflakeStats",
      "snoSnapshot",
      "snoStats",
    ]);
    for (const [record, slots] of rows) {
      const numbers = Object.values(slots).map(Number);
      assert(flat(record, Object.keys(slots)[0]) in RUST, record);
      assert.deepEqual(
        numbers,
        numbers.map((_, k) => numbers[0] + k),
        record,
      );
    }
  });

  test("a slot for each argument, which no other argument and no answer alone has", () => {
    const of = (isAnswer) =>
      Object.entries(TYPESCRIPT)
        .filter(([record]) => ANSWERS.includes(record) === isAnswer)
        .flatMap(([, slots]) => Object.values(slots).map(Number));
    const [given, answered] = [of(false), of(true)];
    assert.equal(new Set(given).size, given.length);
    assert.equal(Math.max(...given), given.length - 1);
    assert.equal(Math.min(...answered), given.length);
    assert(Math.max(...answered) < 72);
  });

  test("calls, which the addon and each wasm module export", () => {
    const lists = [...typescript.matchAll(/^ {2}(\w+): \[(.*?)\]/gms)];
    const calls = Object.fromEntries(lists.map(([, family, names]) => [family, names.match(/\w+/g)]));
    const macros = [...rust.matchAll(/macro_rules! (\w+)_calls \{(.*?)^\}/gms)];
    assert.equal(macros.length, 5);
    for (const [, family, body] of macros) {
      const named = [...body.matchAll(/(\w+) => "(\w+)"/g)];
      for (const [, method, name] of named) assert.equal(camelCase(method), name);
      assert.deepEqual(
        calls[family],
        named.map(([, , name]) => name),
        family,
      );
    }
    const addon = createRequire(import.meta.url)(`../prebuilds/${thisPlatform().name}/polyflake.node`);
    const { calls: exported } = addon.attach(new Uint8Array(72 * 8 + 16_384));
    assert.deepEqual(Object.getOwnPropertyNames(exported).sort(), Object.values(calls).flat().sort());
    for (const family of ["sno", "randflake", "hotguid", "layout"]) {
      const module = new WebAssembly.Module(readFileSync(new URL(`../dist/esm/${family}.wasm`, import.meta.url)));
      const names = WebAssembly.Module.exports(module).map(({ name }) => name);
      for (const name of [...calls.shared, ...calls[family]]) assert(names.includes(name), `${family}: ${name}`);
    }
  });
});
