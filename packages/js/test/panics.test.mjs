// The build's removal of what a panic would report, on a small module.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import binaryen from "binaryen";
import { partOf, stripPanics } from "../build/panics.mjs";

const BASE = 1024;
const PATH = "core/src/lib.rs";

/** A module whose data has a path, a place that names it and another text. */
function moduleWithPlace() {
  const place = Buffer.alloc(16);
  place.writeUInt32LE(BASE, 0);
  place.writeUInt32LE(PATH.length, 4);
  const data = Buffer.concat([Buffer.from(`${PATH}\0`), place, Buffer.from("kept")]).toString("latin1");
  const escaped = data.replace(/[^ -~]/g, (byte) => `\\${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
  const module = binaryen.parseText(`(module
    (memory 1)
    (data (i32.const ${BASE}) "${escaped}")
    (func $"core[1]::panicking::panic" (export "panics") (loop $l (br $l)))
    (func $"core[1]::work" (export "works") (result i32) (i32.const 7)))`);
  binaryen.setDebugInfo(true);
  const bytes = Buffer.from(module.emitBinary());
  module.dispose();
  return bytes;
}

test("a report of a panic becomes a trap, and the places of panics go", async () => {
  const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
  try {
    const path = join(folder, "module.wasm");
    writeFileSync(path, moduleWithPlace());
    assert(readFileSync(path).includes(PATH));
    stripPanics(path);
    const stripped = readFileSync(path);
    assert(!stripped.includes(PATH));
    assert(stripped.includes("kept"));
    const { instance } = await WebAssembly.instantiate(stripped);
    assert.throws(() => instance.exports.panics(), WebAssembly.RuntimeError);
    assert.equal(instance.exports.works(), 7);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a data segment that the module does not hold is an error", () => {
  const module = Buffer.from("a module");
  assert.equal(String(partOf(module, Buffer.from("mod"))), "mod");
  assert.throws(() => partOf(module, Buffer.from("model")), /^Error: expected a data segment of 5 bytes/);
});
