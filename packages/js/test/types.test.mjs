// Tests the package's types with the compilers that users run, without the types of browsers or Node.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { layout } from "polyflake";

const tsc = createRequire(import.meta.url)
  .resolve("typescript/package.json")
  .replace("package.json", "bin/tsc");
const projectPath = (name) => fileURLToPath(new URL(`types/${name}`, import.meta.url));

for (const resolution of [
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
]) {
  test(`the types compile with ${resolution[1]}`, () => {
    const [module, moduleResolution] = resolution;
    compile(["--project", projectPath("tsconfig.json"), "--module", module, "--moduleResolution", moduleResolution]);
  });
}

function compile(flags, options = {}) {
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...flags], { encoding: "utf8", ...options });
  assert.equal(status, 0, stdout);
}

test("the TypeScript of the docs compiles in a separate project", () => {
  const pages = ["bundlers.md", "validation.md"].map((name) =>
    readFileSync(new URL(`../../../docs/integrations/${name}`, import.meta.url), "utf8"),
  );
  const blocks = [...pages.join("\n").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block]) => block);
  assert.ok(blocks.length > 1, `found ${blocks.length}`);
  const cwd = mkdtempSync(join(tmpdir(), "polyflake-"));
  try {
    mkdirSync(join(cwd, "node_modules"));
    symlinkSync(fileURLToPath(new URL("..", import.meta.url)), join(cwd, "node_modules/polyflake"), "junction");
    blocks.forEach((block, k) => writeFileSync(join(cwd, `block${k}.mts`), block));
    writeFileSync(
      join(cwd, "bundler.d.ts"),
      'declare module "*.wasm" {\n  const address: string;\n  export default address;\n}\n',
    );
    const files = [...blocks.keys()].map((k) => `block${k}.mts`);
    compile(["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", ...files, "bundler.d.ts"], { cwd });
  } finally {
    rmSync(cwd, { recursive: true });
  }
});

test("each preset has the bindables that its type lists", () => {
  const declared = readFileSync(new URL("../build/out/types/layout/bindables.d.ts", import.meta.url), "utf8");
  const [, presets] = /interface PresetBindables \{(.*?)^\}/ms.exec(declared);
  const found = [...presets.matchAll(/(\w+): \{(.*?)\}/gs)];
  assert.equal(found.length, 7); // x is an alias
  for (const [, preset, members] of found) {
    const bindables = layout.Layout.preset(preset).parse(0n).bindables;
    const typed = [...members.matchAll(/(\w+): (\w+);/g)].map(([, name, type]) => [name, type]);
    const made = Object.entries(bindables).map(([name, value]) => [name, typeof value]);
    assert.deepEqual(typed, made, preset);
  }
});
