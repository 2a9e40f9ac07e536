// Tests that Rust and TypeScript use the same registers, tags, sizes and calls.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { currentPlatform } from "../build/platforms.mjs";

const readSource = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const rustSource = readSource("../../../crates/bindings-js/src/protocol.rs");
const typescriptSource = readSource("../src/protocol.ts");
const camelCase = (name) => name.toLowerCase().replace(/_([a-z\d])/g, (_, letter) => letter.toUpperCase());

/**
 * Matches a pattern that has two groups, and returns an object that maps the first group of each match to the second
 * group.
 */
const extractPairs = (text, pattern, nameOf = (name) => name) =>
  Object.fromEntries([...text.matchAll(pattern)].map(([, name, value]) => [nameOf(name), value]));

describe("the protocol in Rust and TypeScript", () => {
  test("sizes and tags match", () => {
    const sizes = extractPairs(rustSource, /^pub(?:\(crate\))? const (\w+): usize = (\d+)/gm);
    const tags = extractPairs(rustSource, /const (\w+): u8 = (\d+)/g, (name) => `TAG_${name}`);
    assert.equal(Object.keys(sizes).length, 3);
    assert.equal(Object.keys(tags).length, 13);
    assert.deepEqual(extractPairs(typescriptSource, /^export const (\w+) = (\d+);/gm), { ...sizes, ...tags });
  });

  test("registers match", () => {
    const [, body] = /^export const register = \{(.*?)^\}/ms.exec(typescriptSource);
    const registers = extractPairs(body, /^ {2}(\w+): (\d+)/gm);
    assert.equal(Object.keys(registers).length, 11);
    assert.deepEqual(registers, extractPairs(rustSource, /^ {4}pub const (\w+): usize = (\d+)/gm, camelCase));
  });

  test("every register has one use", () => {
    const at = extractPairs(rustSource, /^ {4}pub const (\w+): usize = (\d+)/gm, camelCase);
    const numbers = Object.values(at).map(Number);
    assert.equal(new Set(numbers).size, numbers.length);
    // The shared options occupy the registers between `value` and `own`, and the format-specific options follow. sno
    // has the most format-specific options.
    assert.equal(at.own - at.value, 5);
    assert(Number(at.own) + 16 <= at.answer);
    // sno's statistics occupy more registers than any other result.
    assert.equal(Number(at.answer) + 10, Number(/NUMBERS: usize = (\d+)/.exec(rustSource)[1]));
  });

  test("the addon and each wasm module export the same calls", () => {
    const macros = [...rustSource.matchAll(/^ {4}(?:"\w+" )?(\w+)_calls \{(.*?)^ {4}\}/gms)];
    const calls = Object.fromEntries(
      macros.map(([, family, body]) => [family, Object.values(extractPairs(body, /(\w+) => "(\w+)"/g, camelCase))]),
    );
    for (const [, , body] of macros)
      for (const [, method, name] of body.matchAll(/(\w+) => "(\w+)"/g)) assert.equal(camelCase(method), name);
    const all = Object.values(calls).flat();
    assert.deepEqual(Object.keys(calls), [
      "shared",
      "generator",
      "sno",
      "randflake",
      "hotguid",
      "layout",
      "uuid7",
      "public",
    ]);
    assertUnion("CallName", all);
    const addon = createRequire(import.meta.url)(`../prebuilds/${currentPlatform().name}/polyflake.node`);
    const { calls: exported } = addon.attach(new Uint8Array(42 * 8 + 16_384));
    const names = Object.getOwnPropertyNames(exported);
    for (const name of all) assert(names.includes(name), name);
    assertUnion(
      "TableCallName",
      names.filter((name) => !all.includes(name)),
    );
    for (const family of ["sno", "randflake", "hotguid", "layout", "uuid7", "public"]) {
      const module = new WebAssembly.Module(readFileSync(new URL(`../dist/esm/${family}.wasm`, import.meta.url)));
      const names = WebAssembly.Module.exports(module).map(({ name }) => name);
      const shared = [...calls.shared, ...(family === "public" ? [] : calls.generator)];
      for (const name of [...shared, ...calls[family]]) assert(names.includes(name), `${family}: ${name}`);
    }
  });
});

/**
 * Asserts that the given type in protocol.ts is the union of the given names. For this purpose, the function compiles
 * TypeScript code that is valid only in that case.
 */
function assertUnion(type, names) {
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
