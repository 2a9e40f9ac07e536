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

const records = (text, pattern, member, nameOf) =>
  Object.fromEntries([...text.matchAll(pattern)].map(([, name, body]) => [nameOf(name), pairs(body, member, nameOf)]));

const RUST = records(rust, /^ {4}pub mod (\w+) \{\n(.*?)^ {4}\}/gms, /const (\w+): usize = (\d+)/g, camelCase);
const TYPESCRIPT = records(typescript, /^export const (\w+)Slots = \{(.*?)\}/gms, /(\w+): (\d+)/g, (name) => name);

describe("Rust and TypeScript have the same", () => {
  test("sizes and tags", () => {
    const sizes = pairs(rust, /^pub\(crate\) const (\w+): usize = (\d+)/gm);
    const tags = pairs(rust, /const (\w+): u8 = (\d+)/g, (name) => `TAG_${name}`);
    assert.equal(Object.keys(sizes).length, 3);
    assert.equal(Object.keys(tags).length, 12);
    assert.deepEqual(pairs(typescript, /^export const (\w+) = (\d+);/gm), { ...sizes, ...tags });
  });

  test("slots, of which Rust names those that it uses one by one", () => {
    assert(Object.keys(RUST).length >= 30, `${Object.keys(RUST)}`);
    for (const [name, slots] of Object.entries(RUST)) {
      for (const [slot, number] of Object.entries(slots))
        assert.equal(TYPESCRIPT[name]?.[slot], number, `${name}.${slot}`);
    }
    const whole = Object.keys(TYPESCRIPT).filter((name) => !(name in RUST));
    assert.deepEqual(whole.sort(), ["error", "hotguidStats", "randflakeStats", "snoStats"]);
    for (const name of [...whole, "snoSnapshot"]) {
      const numbers = Object.values(TYPESCRIPT[name]).map(Number);
      assert.deepEqual(
        numbers,
        numbers.map((_, k) => numbers[0] + k),
        name,
      );
    }
  });

  test("slots inside the area", () => {
    for (const slots of Object.values(TYPESCRIPT))
      for (const number of Object.values(slots)) assert(Number(number) < 32);
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
    const { calls: exported } = addon.attach(new Uint8Array(32 * 8 + 16_384));
    assert.deepEqual(Object.getOwnPropertyNames(exported).sort(), Object.values(calls).flat().sort());
    for (const family of ["sno", "randflake", "hotguid", "layout"]) {
      const module = new WebAssembly.Module(readFileSync(new URL(`../dist/esm/${family}.wasm`, import.meta.url)));
      const names = WebAssembly.Module.exports(module).map(({ name }) => name);
      for (const name of [...calls.shared, ...calls[family]]) assert(names.includes(name), `${family}: ${name}`);
    }
  });
});
