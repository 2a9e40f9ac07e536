// How far a family reaches: what a fifth one would have to be written in.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const NAME = /hot.?guid/i;

/** The files of a folder that carry the name, by their paths or by what they hold. */
function carriers(folder) {
  const files = readdirSync(join(REPOSITORY, folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, path, name }) => join(parentPath ?? path, name));
  return paths.filter((path) => NAME.test(path.slice(REPOSITORY.length)) || NAME.test(readFileSync(path, "utf8")));
}

for (const [folder, most] of Object.entries({ "packages/js/src": 8, "bindings-js/src": 6 })) {
  test(`${folder} names one family in ${most} files at most`, () => {
    const found = carriers(folder);
    assert(found.length > 2 && found.length <= most, found.join("\n"));
  });
}
