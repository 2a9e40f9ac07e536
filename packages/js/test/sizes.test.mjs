// Checks that the package stays within its size limits when it is bundled for browsers and edge runtimes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Returns the size of a minified and compressed script that uses the package. */
async function measureSize(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname ?? new URL(".", import.meta.url).pathname },
    bundle: true,
    minify: true,
    format: "esm",
    conditions: ["browser"],
    write: false,
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

test("polyflake/decode is at most 3.4 KB, and parts of it are smaller", async () => {
  for (const [contents, most] of [
    ['export * from "polyflake/decode";', 3482],
    ['export { discord, parseSnowflake, PolyflakeError } from "polyflake/decode";', 1126],
    ['export { isValid, metabyte, PolyflakeError } from "polyflake/decode";', 768],
    ['export { parse, PolyflakeError } from "polyflake/decode";', 1024],
  ]) {
    const bytes = await measureSize(contents);
    assert(bytes <= most, `${bytes} bytes: ${contents}`);
  }
});

test("the entry points for libraries include no wasm", async () => {
  for (const name of ["forms", "prisma"]) {
    const bytes = await measureSize(`export * from "polyflake/${name}";`);
    assert(bytes <= 3072, `${bytes} bytes: ${name}`);
  }
});

const MAX_KILOBYTES = { sno: 31.25, randflake: 33.75, hotguid: 25.75, layout: 63, uuid7: 28, public: 30 };

for (const [family, most] of Object.entries(MAX_KILOBYTES)) {
  test(`${family}'s wasm module is at most ${most} KB compressed`, () => {
    const module = readFileSync(new URL(`../dist/esm/${family}.wasm`, import.meta.url));
    const bytes = gzipSync(module, { level: 9 }).length;
    assert(bytes <= most * 1024, `${bytes} bytes`);
  });
}

test("unused imports add no size", async () => {
  const bytes = await measureSize('import { sno } from "polyflake"; import "polyflake/decode"; console.log(1);');
  assert(bytes <= 100, `${bytes} bytes`);
});

/**
 * The sizes in the table in docs/integrations/bundlers.md, keyed by import. For each import, the first size applies if
 * the wasm is embedded in the script, and the second size applies if the wasm is a separate file.
 */
const DOCUMENTED_SIZES = Object.fromEntries(
  [
    ...readFileSync(new URL("../../../docs/integrations/bundlers.md", import.meta.url), "utf8").matchAll(
      /^\| `?([\w/]+)`? \| ([\d.]+) KB \| (?:([\d.]+) KB)? ?\|$/gm,
    ),
  ].map(([, name, ...kilobytes]) => [name, kilobytes]),
);

const FAMILIES = ["hotguid", "uuid7", "sparx64", "public", "randflake", "sno", "layout"];
const IMPORTS = {
  "polyflake/decode": 'export * from "polyflake/decode";',
  "polyflake/json": 'export * from "polyflake/json";',
  "polyflake/schema": 'export * from "polyflake/schema";',
  ...Object.fromEntries(FAMILIES.map((name) => [name, `export { ${name} } from "polyflake";`])),
  all: 'export * from "polyflake";',
};

const assertCloseTo = (bytes, printed, name) => {
  const tolerance = Math.max(0.1, printed * 0.03);
  assert(Math.abs(bytes / 1024 - printed) <= tolerance, `${name}: ${(bytes / 1024).toFixed(1)} KB`);
};

test("the page states the measured sizes", async () => {
  assert.deepEqual(Object.keys(DOCUMENTED_SIZES), Object.keys(IMPORTS));
  for (const [name, contents] of Object.entries(IMPORTS))
    assertCloseTo(await measureSize(contents), DOCUMENTED_SIZES[name][0], name);
});

test("the page states the measured sizes with separate wasm files", async () => {
  const modules = {
    ...Object.fromEntries(FAMILIES.map((name) => [name, [name]])),
    sparx64: ["randflake"],
    all: Object.keys(MAX_KILOBYTES),
  };
  const additionalImports = Object.keys(DOCUMENTED_SIZES).filter((name) => DOCUMENTED_SIZES[name][1] !== undefined);
  assert.deepEqual(additionalImports.sort(), Object.keys(modules).sort());
  for (const [name, files] of Object.entries(modules)) {
    const script = await measureSize(IMPORTS[name].replace('"polyflake"', '"polyflake/web"'));
    const compressed = files.map(
      (file) => gzipSync(readFileSync(new URL(`../dist/esm/${file}.wasm`, import.meta.url)), { level: 9 }).length,
    );
    const bytes = compressed.reduce((sum, one) => sum + one, script);
    assertCloseTo(bytes, DOCUMENTED_SIZES[name][1], `${name}, with wasm beside`);
    assert(bytes < 0.82 * DOCUMENTED_SIZES[name][0] * 1024, `${name}: ${bytes}`);
  }
});

test("the README states the sizes of the parts of polyflake/json", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, kinds, integers] = /([\d.]+) KB of it for kinds alone, ([\d.]+) KB for integers alone/.exec(readme);
  assertCloseTo(await measureSize('export { byMetabyte } from "polyflake/json";'), kinds, "kinds");
  assertCloseTo(await measureSize('export { withBigints } from "polyflake/json";'), integers, "integers");
});
