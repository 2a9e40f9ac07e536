// Tests that each public name and member in the bundled declarations has a doc comment. tsc and the bundler copy the
// comments from the sources, so each comment is written only once.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { TYPES_ENTRIES } from "../build/script.mjs";

const DECLARATIONS = fileURLToPath(new URL("../build/out/types/", import.meta.url));

const readDeclarations = (path) => readFileSync(join(DECLARATIONS, path), "utf8");

/** Returns the names within an export's braces: `type A` and `A as B` both count as `A`. */
const splitNames = (braces) =>
  braces
    .split(",")
    .map((name) =>
      name
        .trim()
        .replace(/^type /, "")
        .replace(/ as .*/, ""),
    )
    .filter((name) => name !== "");

/** Returns a file's public names, each with the file that declares it. */
function exportedNames(path) {
  const text = readDeclarations(path);
  const file = (from) => join(dirname(path), from.replace(/\.js$/, ".d.ts"));
  const reexportedModules = [...text.matchAll(/^export \* (?:as \w+ )?from "([^"]*)";/gm)].flatMap(([, from]) =>
    exportedNames(file(from)),
  );
  const reexportedNames = [...text.matchAll(/^export (?:type )?\{(.*?)\} from "([^"]*)";/gms)];
  const ownNames = [
    ...text.matchAll(/^export (?:declare )?(?:abstract )?(?:function|class|interface|type|const) (\w+)/gm),
  ];
  const movedNames = reexportedNames.flatMap(([, names, from]) =>
    splitNames(names).map((name) => findDeclaration(file(from), name)),
  );
  return [...reexportedModules, ...movedNames, ...ownNames.map(([, name]) => [path, name])];
}

/** Returns the file that declares a name that another file exports. */
function findDeclaration(path, name) {
  const found = exportedNames(path).find(([, its]) => its === name);
  assert.ok(found, `${path} exports no ${name}`);
  return found;
}

const isDocumented = (lines, at) => lines[at - 1]?.trim().endsWith("*/");

/**
 * Returns the declarations of a name and its members that have no comment. If a name has overloads, the first one has
 * the comment.
 */
function findUndocumented(path, name) {
  const lines = readDeclarations(path).split("\n");
  const starts = new RegExp(`^export (?:declare )?(?:abstract )?(?:function|class|interface|type|const) ${name}\\b`);
  const at = lines.findIndex((line) => starts.test(line));
  assert.ok(at >= 0, `${path} declares no ${name}`);
  const missing = isDocumented(lines, at) ? [] : [name];
  if (!/\b(?:class|interface) /.test(lines[at])) return missing;
  const end = lines.indexOf("}", at);
  const seen = new Set();
  for (let line = at + 1; line < end; line++) {
    const member = /^    (?:(?:static|readonly|get|set|abstract|override) )*([A-Za-z]\w*|\[\w[^\]]*\])\??[(:<]/.exec(
      lines[line],
    )?.[1];
    // The static `name` of a class is a built-in property, so it needs no comment.
    if (member === undefined || member === "private" || /static readonly name:/.test(lines[line])) continue;
    if (!seen.has(member) && !isDocumented(lines, line)) missing.push(`${name}.${member}`);
    seen.add(member);
  }
  return missing;
}

for (const entry of Object.values(TYPES_ENTRIES).map((name) => `${name}.d.ts`)) {
  test(`${entry}: each name and member has a doc comment`, () => {
    const names = exportedNames(entry);
    assert.ok(names.length > 0);
    const missing = names.flatMap(([path, name]) => findUndocumented(path, name).map((its) => `${path}: ${its}`));
    assert.deepEqual(missing, []);
  });
}
