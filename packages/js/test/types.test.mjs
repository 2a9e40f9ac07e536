// The types, as users' compilers see them without the types of the browser or of Node.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const tsc = createRequire(import.meta.url)
  .resolve("typescript/package.json")
  .replace("package.json", "bin/tsc");
const project = fileURLToPath(new URL("types/tsconfig.json", import.meta.url));

for (const resolution of [
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
]) {
  test(`types under ${resolution[1]}`, () => {
    const [module, moduleResolution] = resolution;
    const flags = ["--project", project, "--module", module, "--moduleResolution", moduleResolution];
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...flags], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  });
}
