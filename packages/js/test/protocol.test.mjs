// Tests that Rust and TypeScript use the same slots, tags, sizes and calls.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { thisPlatform } from "../build/platforms.mjs";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const rust = read("../../../bindings-js/src/protocol.rs");
const typescript = read("../src/protocol.ts");
const camelCase = (name) => name.toLowerCase().replace(/_([a-z\d])/g, (_, letter) => letter.toUpperCase());

/** Returns the matches of a pattern with two groups as an object. */
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

/** Records that only occur in answers. */
const ANSWERS = [
  "answer",
  "made",
  "snoPartition",
  "conflict",
  "seal",
  "snoStats",
  "randflakeStats",
  "randflakeClose",
  "hotguidStats",
  "tableAnswer",
  "error",
];

describe("Rust and TypeScript have the same", () => {
  test("sizes and tags match", () => {
    const sizes = pairs(rust, /^pub(?:\(crate\))? const (\w+): usize = (\d+)/gm);
    const tags = pairs(rust, /const (\w+): u8 = (\d+)/g, (name) => `TAG_${name}`);
    assert.equal(Object.keys(sizes).length, 3);
    assert.equal(Object.keys(tags).length, 12);
    assert.deepEqual(pairs(typescript, /^export const (\w+) = (\d+);/gm), { ...sizes, ...tags });
  });

  test("slots match", () => {
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

  test("each argument has its own slot", () => {
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

  test("the addon and each wasm module export the same calls", () => {
    const macros = [...rust.matchAll(/macro_rules! (\w+)_calls \{(.*?)^\}/gms)];
    const calls = Object.fromEntries(
      macros.map(([, family, body]) => [family, Object.values(pairs(body, /(\w+) => "(\w+)"/g, camelCase))]),
    );
    for (const [, , body] of macros)
      for (const [, method, name] of body.matchAll(/(\w+) => "(\w+)"/g)) assert.equal(camelCase(method), name);
    const all = Object.values(calls).flat();
    assert.deepEqual(Object.keys(calls), [
      "shared",
      "generator",
      "window",
      "sno",
      "randflake",
      "hotguid",
      "layout",
      "public",
    ]);
    isExactly("CallName", all);
    const addon = createRequire(import.meta.url)(`../prebuilds/${thisPlatform().name}/polyflake.node`);
    const { calls: exported } = addon.attach(new Uint8Array(72 * 8 + 16_384));
    const names = Object.getOwnPropertyNames(exported);
    for (const name of all) assert(names.includes(name), name);
    isExactly(
      "TableCallName",
      names.filter((name) => !all.includes(name)),
    );
    for (const family of ["sno", "randflake", "hotguid", "layout", "public"]) {
      const module = new WebAssembly.Module(readFileSync(new URL(`../dist/esm/${family}.wasm`, import.meta.url)));
      const names = WebAssembly.Module.exports(module).map(({ name }) => name);
      const shared = [
        ...calls.shared,
        ...(family === "public" ? [] : calls.generator),
        ...(["sno", "hotguid", "layout"].includes(family) ? calls.window : []),
      ];
      for (const name of [...shared, ...calls[family]]) assert(names.includes(name), `${family}: ${name}`);
    }
  });
});

/** Lets the compiler check that a type in protocol.ts is the union of these names. */
function isExactly(type, names) {
  const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
  try {
    const members = names.map((name) => `${name}: 0`).join(", ");
    const source = JSON.stringify(fileURLToPath(new URL("../src/protocol.ts", import.meta.url)));
    const text = `import type { ${type} } from ${source};\nexport const all: Record<${type}, 0> = { ${members} };\n`;
    writeFileSync(join(folder, "names.mts"), text);
    const options = ["--noEmit", "--strict", "--allowImportingTsExtensions", "--types", "", "--module", "nodenext"];
    const compiler = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
    const { status, stdout } = spawnSync(process.execPath, [compiler, ...options, "names.mts"], { cwd: folder });
    assert.equal(status, 0, String(stdout));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
