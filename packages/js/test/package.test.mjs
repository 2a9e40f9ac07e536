// Tests the contents of the tarball that npm packs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { platformManifest, stagePackage, stagePlatformPackage } from "../build/pack.mjs";
import { addonPackageName, currentPlatform, PLATFORMS } from "../build/platforms.mjs";

const PACKAGE_URL = new URL("..", import.meta.url);
const root = mkdtempSync(join(tmpdir(), "polyflake-"));
after(() => rmSync(root, { recursive: true }));

/**
 * Creates a folder and calls `fill` to write a package's files to it. Returns the folder, its package.json, and the
 * files that npm packs.
 */
function packPackage(name, fill) {
  const folder = join(root, name);
  mkdirSync(folder);
  fill(folder);
  const options = { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
  const [{ files }] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], options));
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return { HOME: pathToFileURL(`${folder}/`), manifest, files: files.map(({ path }) => path) };
}

/** Asserts that no file contains a folder path of the build machine. */
function assertNoFolderName(home, files) {
  const { CARGO_HOME = resolve(homedir(), ".cargo"), CARGO_TARGET_DIR = "target" } = process.env;
  const repository = resolve(fileURLToPath(new URL("../..", PACKAGE_URL)));
  const folders = [repository, homedir(), CARGO_HOME, resolve(repository, CARGO_TARGET_DIR), "registry/src/"];
  for (const file of files) {
    const content = readFileSync(new URL(file, home));
    for (const folder of folders) assert(!content.includes(folder), `${file} holds ${folder}`);
  }
}

/** Returns all files that are listed in a part of package.json. */
function filesIn(part) {
  if (typeof part === "string") return part.startsWith("./") ? [part.slice(2)] : [];
  return Object.entries(part ?? {}).flatMap(([key, value]) => [
    ...filesIn(value),
    ...(key.startsWith("./dist/") ? [key.slice(2)] : []),
  ]);
}

/** Returns the names of the wasm modules that Node reads to generate an ID. */
function listReadModules(backend, format) {
  const head = {
    esm: 'import { sno } from "polyflake"; import fs from "node:fs";',
    cjs: 'const fs = require("node:fs"); const { sno } = require("polyflake");',
  }[format];
  const program = `${head}
    const [read, seen] = [fs.readFileSync, []];
    fs.readFileSync = (path, ...rest) => (seen.push(String(path)), read(path, ...rest));
    sno.generate();
    console.log(seen.filter((path) => /wasm|base64/.test(path)).join());`;
  const options = { cwd: fileURLToPath(new URL("test", PACKAGE_URL)), encoding: "utf8" };
  const env = { ...process.env, POLYFLAKE_BACKEND: backend };
  const type = `--input-type=${format === "esm" ? "module" : "commonjs"}`;
  const paths = execFileSync(process.execPath, [type, "--eval", program], { ...options, env }).trim();
  return paths.split(",").map((path) => basename(path));
}

describe("the tarball", () => {
  const { HOME, manifest, files } = packPackage("main", stagePackage);

  test("contains the licences, the notice, the changelog and its own README", () => {
    for (const name of ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE.md", "THIRD-PARTY.md", "CHANGELOG.md", "README.md"])
      assert(files.includes(name), name);
    const [ours, repository] = ["README.md", "../../README.md"].map((path) =>
      readFileSync(new URL(path, PACKAGE_URL), "utf8"),
    );
    assert.notEqual(ours, repository);
    assert.match(ours.slice(0, 500), /npm install polyflake/);
  });

  test("contains wasm modules without paths of the build machine", () => {
    for (const name of files.filter((name) => name.endsWith(".wasm"))) {
      const module = readFileSync(new URL(name, HOME), "latin1");
      const paths = module.match(/(?<![\w.@-])\/[\w./@-]+\.rs\b/g) ?? [];
      const localPaths = paths.filter((path) => !/^\/(rustc|rust|cargo|polyflake)\//.test(path));
      assert.deepEqual(localPaths, [], name);
    }
  });

  test("requires none of the libraries that it integrates with", () => {
    const { dependencies, peerDependencies, peerDependenciesMeta } = manifest;
    assert.equal(dependencies, undefined);
    const optional = Object.entries(peerDependenciesMeta).filter(([, { optional }]) => optional);
    assert.deepEqual(
      optional.map(([name]) => name),
      Object.keys(peerDependencies),
    );
    // Any version is allowed. With a range, npm would refuse to install the package next to a library version outside
    // that range. Ranges also exclude prereleases.
    assert.deepEqual([...new Set(Object.values(peerDependencies))], ["*"]);
  });

  test("states its repository", () => {
    const { repository, homepage, bugs } = manifest;
    assert.equal(repository.type, "git");
    assert.equal(repository.directory, "packages/js");
    for (const address of [repository.url.replace(/^git\+/, ""), homepage, bugs]) assert.match(address, /^https:\/\//);
  });

  test("contains every file that package.json names", () => {
    const { main, browser, types, exports } = manifest;
    const names = filesIn({ main, browser, types, exports });
    assert(names.length > 20, `${names.length} names`);
    // A path with an asterisk covers every format.
    const all = names.flatMap((name) =>
      name.includes("*")
        ? ["hotguid", "layout", "public", "randflake", "sno", "uuid7"].map((family) => name.replace("*", family))
        : [name],
    );
    for (const name of all) assert(files.includes(name), name);
  });

  test("has a folder for each path, which names the files that its exports name", () => {
    const paths = Object.entries(manifest.exports).filter(([path, to]) => path !== "." && to.module);
    assert(paths.length >= 9, `${paths.length} paths`);
    for (const [path, to] of paths) {
      const file = `${path.slice(2)}/package.json`;
      assert(files.includes(file), file);
      const { main, module, types } = JSON.parse(readFileSync(new URL(file, HOME), "utf8"));
      const found = [main, module, types].map((name) => new URL(name, new URL(file, HOME)).href);
      assert.deepEqual(
        found,
        [to.require ?? to.default, to.module, to.types.require].map((name) => new URL(name, HOME).href),
      );
    }
  });

  test("gives Node the same file of a path under every condition, except for paths that `import` needs", () => {
    const paths = Object.entries(manifest.exports).filter(([, to]) => to.node && to.default);
    assert(paths.length >= 10, `${paths.length} paths`);
    const several = paths.filter(([, { node }]) => typeof node !== "string");
    assert.deepEqual(Object.fromEntries(several.map(([path, { node }]) => [path, node])), {
      // An ES module and Drizzle's ES modules have the same classes. Both files share all code of the package.
      "./drizzle": { import: "./dist/esm/drizzle-node.js", default: "./dist/cjs/drizzle.js" },
      // Only Node's `import` waits for a lease. A file tracer that includes the `default` file also copies the `import`
      // file.
      "./lease": { "node-addons": { import: "./dist/esm/lease-node.js" }, default: "./dist/cjs/lease.js" },
      "./lease/pg": { "node-addons": { import: "./dist/esm/lease-pg-node.js" }, default: "./dist/cjs/lease-pg.js" },
    });
    for (const name of ["lease", "lease-pg"]) {
      const traced = readFileSync(new URL(`dist/cjs/${name}.js`, HOME), "utf8");
      assert(traced.includes(`__dirname + "/../esm/${name}-node.js"`), name);
    }
  });

  test("lists its CommonJS exports in short files", () => {
    const filesIn = Object.values(manifest.exports).flatMap(({ node }) => node?.default ?? node ?? []);
    const entries = filesIn.filter((file) => !file.includes("*"));
    for (const file of entries) assert(statSync(new URL(file, HOME)).size < 16_384, file);
    assert(entries.includes("./dist/cjs/node.js"));
  });

  test("contains wasm in base64 and types only once", () => {
    const types = files.filter((file) => file.endsWith(".d.ts"));
    const [cjs, esm] = ["cjs", "esm"].map((format) => types.filter((file) => file.startsWith(`dist/${format}/`)));
    // Drizzle's declarations refer to the classes in the ES modules of drizzle-orm.
    const again = esm.filter((file) => !["dist/esm/address.d.ts", "dist/esm/drizzle.d.ts"].includes(file));
    for (const file of again)
      assert.equal(
        readFileSync(new URL(file, HOME), "utf8"),
        `export * from "../cjs/${basename(file, ".d.ts")}.js";\n`,
      );
    assert(cjs.length - esm.length <= 13, `${cjs}`);
    assert(files.length <= 157, `${files.length} files`);
    assert.equal(files.filter((file) => file.includes("base64")).length, 12);
  });

  test("contains no unused file", () => {
    const built = files.filter((file) => file.startsWith("dist/"));
    const texts = [...built.filter((file) => !file.endsWith(".wasm")), "package.json"].map((file) => [
      file,
      readFileSync(new URL(file, HOME), "utf8"),
    ]);
    // Declaration files are named after the scripts next to them, and wasm modules after their formats.
    const namesOf = (file) => [basename(file), basename(file).replace(/\.d\.ts$/, ".js")];
    const isNamed = (file) =>
      texts.some(([other, text]) => other !== file && namesOf(file).some((name) => text.includes(`/${name}`)));
    // package.json lists these modules as a single path with an asterisk.
    const names = ["hotguid", "layout", "randflake", "sno", "sparx64", "uuid7"];
    const families = [
      ...names.map((name) => `dist/cjs/${name}.d.ts`),
      ...names.map((name) => `dist/cjs/node-${name}.js`),
    ];
    assert.deepEqual(built.filter((file) => !isNamed(file)).sort(), families.sort());
  });

  test("lists the types condition first", () => {
    const conditions = (part) =>
      typeof part === "string" ? [] : [Object.keys(part), ...Object.values(part).flatMap(conditions)];
    const typed = conditions(manifest.exports).filter((keys) => keys.includes("types"));
    assert(typed.length > 10, `${typed.length} of them`);
    for (const keys of typed) assert.equal(keys[0], "types");
  });

  test("contains no path of the build machine", () => {
    const built = files.filter((file) => file.startsWith("dist/"));
    assert(
      built.some((file) => file.endsWith(".wasm")),
      `${built}`,
    );
    assertNoFolderName(HOME, built);
  });

  test("contains no addon and depends on the addon packages of its version", () => {
    assert.deepEqual(
      files.filter((file) => file.endsWith(".node")),
      [],
    );
    const wanted = PLATFORMS.map((platform) => [addonPackageName(platform), manifest.version]);
    assert(wanted.length >= 7, `${wanted.length} platforms`);
    assert.deepEqual(manifest.optionalDependencies, Object.fromEntries(wanted));
  });

  test("loads no wasm in Node with the addon, and only the wasm that is used", () => {
    for (const [backend, expected] of [
      ["native", [""]],
      ["wasm", ["sno-base64.js"]],
    ]) {
      const read = ["esm", "cjs"].map((format) => listReadModules(backend, format));
      assert.deepEqual(read, [expected, expected], backend);
    }
  });

  test("can be published, unlike the folder of its sources", () => {
    assert.equal(manifest.private, undefined);
    assert.equal(JSON.parse(readFileSync(new URL("package.json", PACKAGE_URL), "utf8")).private, true);
  });

  test("has README links that work outside the repository", () => {
    const readme = readFileSync(new URL("README.md", HOME), "utf8");
    const links = [...readme.matchAll(/\]\(([^)]*)\)/g)].map(([, target]) => target);
    assert(links.length > 0);
    for (const target of links) assert(/^(https:\/\/|#)/.test(target) || files.includes(target), target);
  });

  test("lists the tested versions of libraries", () => {
    const rows = [
      ...readFileSync(new URL("README.md", HOME), "utf8").matchAll(/^\| (@?[\w/-]+) \| ([\d.]+) \| ([\d.]+) \|/gm),
    ];
    const printed = Object.fromEntries(rows.map(([, name, oldest, newest]) => [name, [oldest, newest]]));
    const project = (name) =>
      JSON.parse(readFileSync(new URL(`../../tests/packaging/js/${name}/package.json`, PACKAGE_URL), "utf8"));
    const { dependencies: databases, oldest } = project("databases");
    const { dependencies: servers } = project("servers");
    const prisma = project("prisma");
    const schemas = project("schemas");
    const aliasVersion = (name) => servers[name].replace(/.*@/, "");
    const testedVersions = {
      ...Object.fromEntries(
        ["drizzle-orm", "kysely", "typeorm"].map((name) => [name, [oldest[name], databases[name]]]),
      ),
      ...Object.fromEntries(
        ["arktype", "zod", "valibot"].map((name) => [name, [schemas.oldest[name], schemas.dependencies[name]]]),
      ),
      // Only the newest versions of @prisma/client are tested.
      "@prisma/client": [prisma.oldest["@prisma/client"], printed["@prisma/client"][1]],
      express: [aliasVersion("express-4"), servers.express],
      hono: [aliasVersion("hono-4.0"), servers.hono],
    };
    assert.deepEqual(printed, testedVersions);
  });
});

describe("a platform's package", () => {
  const addon = ({ name }) => fileURLToPath(new URL(`prebuilds/${name}/polyflake.node`, PACKAGE_URL));

  test("states its platform and contains an addon without local paths", () => {
    const platform = currentPlatform();
    const { HOME, manifest, files } = packPackage(platform.name, (folder) =>
      stagePlatformPackage(platform, addon(platform), folder),
    );
    assert.deepEqual([manifest.os, manifest.cpu], [[process.platform], [process.arch]]);
    assert(files.includes(manifest.main), `${files}`);
    for (const name of ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE.md", "THIRD-PARTY.md", "README.md"])
      assert(files.includes(name), name);
    assertNoFolderName(HOME, files);
  });

  test("specifies the C library only on Linux", () => {
    for (const platform of PLATFORMS) {
      const expected = { linux: [/musl/.test(platform.target) ? "musl" : "glibc"] }[platform.os];
      assert.deepEqual(platformManifest(platform).libc, expected, platform.name);
    }
  });
});
