// The contents of the tarball, as npm packs it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const HOME = new URL("..", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("package.json", HOME), "utf8"));

function packed() {
  const options = { cwd: fileURLToPath(HOME), encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
  const [{ files }] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], options));
  return files.map(({ path }) => path);
}

/** All files named in a part of package.json. */
function named(part) {
  if (typeof part === "string") return part.startsWith("./") ? [part.slice(2)] : [];
  return Object.entries(part ?? {}).flatMap(([key, value]) => [
    ...named(value),
    ...(key.startsWith("./dist/") ? [key.slice(2)] : []),
  ]);
}

describe("the tarball", () => {
  const files = packed();

  test("has the licences, the notice, the changes and a README of its own", () => {
    for (const name of ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE.md", "CHANGELOG.md", "README.md"])
      assert(files.includes(name), name);
    const [ours, repository] = ["README.md", "../../README.md"].map((path) =>
      readFileSync(new URL(path, HOME), "utf8"),
    );
    assert.notEqual(ours, repository);
    assert.match(ours.slice(0, 400), /npm install polyflake/);
  });

  test("has wasm modules that name no source file of the machine that built them", () => {
    for (const name of files.filter((name) => name.endsWith(".wasm"))) {
      const module = readFileSync(new URL(name, HOME), "latin1");
      assert.deepEqual(module.match(/[\w./@-]+\.rs\b/g), null, name);
    }
  });

  test("says where it comes from", () => {
    const { repository, homepage, bugs } = manifest;
    assert.equal(repository.type, "git");
    assert.equal(repository.directory, "packages/js");
    for (const address of [repository.url.replace(/^git\+/, ""), homepage, bugs]) assert.match(address, /^https:\/\//);
  });

  test("has every file that package.json names", () => {
    const { main, module, browser, types, exports } = manifest;
    const names = named({ main, module, browser, types, exports });
    assert(names.length > 20, `${names.length} names`);
    for (const name of names) assert(files.includes(name), name);
  });

  test("has a folder for each path, which names the files that its exports name", () => {
    const paths = Object.entries(manifest.exports).filter(([path, to]) => path !== "." && typeof to === "object");
    assert.equal(paths.length, 5);
    for (const [path, to] of paths) {
      const { import: esm, require: cjs } = to.default ?? to;
      const file = `${path.slice(2)}/package.json`;
      assert(files.includes(file), file);
      const { main, module, types } = JSON.parse(readFileSync(new URL(file, HOME), "utf8"));
      const found = [main, module, types].map((name) => new URL(name, new URL(file, HOME)).href);
      assert.deepEqual(
        found,
        [cjs.default, esm.default, cjs.types].map((name) => new URL(name, HOME).href),
      );
    }
  });

  test("names types before what they are of", () => {
    const conditions = (part) =>
      typeof part === "string" ? [] : [Object.keys(part), ...Object.values(part).flatMap(conditions)];
    const typed = conditions(manifest.exports).filter((keys) => keys.includes("types"));
    assert(typed.length > 10, `${typed.length} of them`);
    for (const keys of typed) assert.equal(keys[0], "types");
  });

  test("holds no folder of the machine that built it", () => {
    const { CARGO_HOME = resolve(homedir(), ".cargo"), CARGO_TARGET_DIR = "target" } = process.env;
    const repository = fileURLToPath(new URL("../..", HOME));
    const folders = [
      resolve(repository),
      homedir(),
      CARGO_HOME,
      resolve(repository, CARGO_TARGET_DIR),
      "registry/src/",
    ];
    const built = files.filter((file) => /^(dist|prebuilds)\//.test(file));
    assert(built.some((file) => file.endsWith(".wasm")) && built.some((file) => file.endsWith(".node")), `${built}`);
    for (const file of built) {
      const content = readFileSync(new URL(file, HOME));
      for (const folder of folders) assert(!content.includes(folder), `${file} holds ${folder}`);
    }
  });

  test("has links in its README that work outside the repository", () => {
    const readme = readFileSync(new URL("README.md", HOME), "utf8");
    const links = [...readme.matchAll(/\]\(([^)]*)\)/g)].map(([, target]) => target);
    assert(links.length > 0);
    for (const target of links) assert(/^(https:\/\/|#)/.test(target) || files.includes(target), target);
  });
});
