// Checks that a program is stopped when it loads a file from outside its folder. The programs load the file in
// different ways, and try to ignore the error.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { withMovedCopy } from "./moved.mjs";

const folder = mkdtempSync(join(tmpdir(), "polyflake-outside-"));
// If `moved` runs the programs as a different user, that user must be able to read the files.
chmodSync(folder, 0o755);
const [module, script, addon] = ["it.mjs", "it.cjs", "it.node"].map((name) => join(folder, name));
for (const file of [module, script, addon]) writeFileSync(file, "");
const programs = {
  "import.mjs": `await import(${JSON.stringify(pathToFileURL(module))}).catch(() => 0);`,
  "imported.cjs": `import(${JSON.stringify(pathToFileURL(module))}).catch(() => 0);`,
  "require.cjs": `try { require(${JSON.stringify(script)}); } catch {}`,
  "addon.cjs": `try { require(${JSON.stringify(addon)}); } catch {}`,
  "inside.cjs": "console.log(1);",
};
for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text);
try {
  for (const name of Object.keys(programs)) {
    const { status, stderr } = await withMovedCopy(join(folder, name), (copy, options) =>
      spawnSync(process.execPath, [copy], { encoding: "utf8", ...options }),
    );
    if (name === "inside.cjs") assert.deepEqual([status, stderr], [0, ""]);
    else assert.match(stderr, /^expected files of .*, found .*\/it\.[a-z]+\n$/, `${name} ended with ${status}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
