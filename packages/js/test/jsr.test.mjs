// Tests the package published on JSR. `cargo xtask release --dry` also checks it with Deno.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { writeJsrPackage } from "../build/jsr.mjs";

test("the JSR package contains every source file that it imports", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "jsr-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeJsrPackage(folder);
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(".ts"));
  const imports = files.flatMap((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    // Skips imports of the package by its name, which occur only in examples.
    return [...text.matchAll(/\bfrom "([^"@][^"]*)"/g)].map(([, name]) => join(dirname(file), name));
  });
  assert(imports.length > 20);
  assert.deepEqual(
    imports.filter((file) => !files.includes(file)),
    [],
  );
  const { exports, version } = JSON.parse(readFileSync(join(folder, "jsr.json"), "utf8"));
  assert.deepEqual(Object.values(exports).sort(), ["./decode.ts", "./json.ts"]);
  assert.equal(version, JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
});
