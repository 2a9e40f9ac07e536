/**
 * Writes the files of the JSR package to a folder. Run it with `node build/jsr.mjs FOLDER`. The package contains the
 * sources of `polyflake/decode` and `polyflake/json`. JSR compiles TypeScript itself and resolves an import by its
 * file's name, so this script changes imports of `x.js` to imports of `x.ts`.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { PACKAGE, REPOSITORY } from "./tools.mjs";

const ENTRIES = ["decode", "json"];
const PACKAGE_NAME = "@polyflake/polyflake";
const IMPORT_PATTERN = /(\bfrom "|\bimport "|\bimport\(")(\.\.?\/[^"]+)\.js"/g;

/** Writes the package's files to a folder. The folder's previous contents are deleted. */
export function writeJsrPackage(folder) {
  rmSync(folder, { recursive: true, force: true });
  const sources = new Map();
  for (const entry of ENTRIES) addSource(sources, `${entry}.ts`);
  for (const [file, text] of sources) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  writeFileSync(join(folder, "jsr.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
  copyFileSync(join(PACKAGE, "build/jsr.md"), join(folder, "README.md"));
  for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"])
    copyFileSync(join(REPOSITORY, licence), join(folder, licence));
}

/** Adds a source file to `sources`, together with all files that it imports. */
function addSource(sources, file) {
  if (sources.has(file)) return;
  sources.set(file, "");
  const text = readFileSync(join(PACKAGE, "src", file), "utf8");
  const withPackageNames = text.replace(IMPORT_PATTERN, (_, before, name) => {
    addSource(sources, posix.join(posix.dirname(file), `${name}.ts`));
    return `${before}${name}.ts"`;
  });
  // Examples in comments import the package by its name.
  sources.set(file, withPackageNames.replaceAll('"polyflake/', `"${PACKAGE_NAME}/`));
}

function manifest() {
  const { version, license } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
  const exports = Object.fromEntries(ENTRIES.map((entry) => [`./${entry}`, `./${entry}.ts`]));
  return { name: PACKAGE_NAME, version, license, exports };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = process.argv[2];
  if (!folder) throw new Error("expected a folder");
  writeJsrPackage(resolve(folder));
}
