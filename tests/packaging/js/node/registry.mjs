// Installs the package from a registry, served here, that has it and the package of each platform's addon: npm must take the addon of this
// machine alone, and none where it is told to leave it out or has another platform.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const TARBALLS = ["polyflake.tgz", "addon.tgz"];
const run = promisify(execFile);

/** The package.json in a tarball. */
function manifestIn(tarball) {
  const args = ["--extract", "--gzip", "--to-stdout", "--file", tarball, "package/package.json"];
  return JSON.parse(execFileSync("tar", args, { encoding: "utf8" }));
}

/** Packages with tarballs by name, and those of other platforms, which have none and must not be asked for. */
function packages(address) {
  const [main, addon] = TARBALLS.map((tarball) => {
    const integrity = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
    return { ...manifestIn(tarball), dist: { tarball: `${address}/${tarball}`, integrity } };
  });
  const others = Object.entries(main.optionalDependencies).map(([name, version]) => {
    const [, os, cpu, abi] = name.match(/^@polyflake\/addon-(\w+)-(\w+)(?:-(\w+))?$/);
    const libc = os === "linux" ? { libc: [abi === "gnu" ? "glibc" : "musl"] } : {};
    return { name, version, os: [os], cpu: [cpu], ...libc, dist: { tarball: `${address}/other.tgz` } };
  });
  return Object.fromEntries([...others, main, addon].map((manifest) => [manifest.name, manifest]));
}

const asked = [];
let served;
const server = createServer(({ url }, response) => {
  const path = decodeURIComponent(url.slice(1));
  asked.push(path);
  const manifest = served[path];
  if (TARBALLS.includes(path)) response.end(readFileSync(path));
  else if (manifest)
    response.end(
      JSON.stringify({
        name: path,
        "dist-tags": { latest: manifest.version },
        versions: { [manifest.version]: manifest },
      }),
    );
  else response.writeHead(404).end("{}");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const registry = `http://127.0.0.1:${server.address().port}`;
served = packages(registry);
const { name: addon } = manifestIn("addon.tgz");

/** Installs into a new project; returns the addons there, and a function that runs a program there. */
async function installed(folder, ...options) {
  mkdirSync(folder);
  for (const file of ["main.js", "use.js"]) cpSync(file, join(folder, file));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const quiet = [
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    "--registry",
    registry,
    "--cache",
    join(folder, "cache"),
  ];
  await run("npm", ["install", ...quiet, ...options, "polyflake"], { cwd: folder });
  const modules = join(folder, "node_modules");
  const addons = readdirSync(modules).includes("@polyflake") ? readdirSync(join(modules, "@polyflake")) : [];
  const main = async (env = {}) => {
    const options = { cwd: folder, env: { ...process.env, ...env } };
    return (await run(process.execPath, ["main.js"], options)).stdout.trim();
  };
  return { addons: addons.map((name) => `@polyflake/${name}`), main };
}

const root = mkdtempSync(join(tmpdir(), "polyflake-"));
try {
  const whole = await installed(join(root, "whole"));
  assert.deepEqual(whole.addons, [addon]);
  assert.equal(await whole.main(), "native");
  assert(asked.includes("addon.tgz"));

  for (const [name, ...options] of [
    ["omitted", "--omit=optional"],
    ["elsewhere", "--os=freebsd"],
  ]) {
    const without = await installed(join(root, name), ...options);
    assert.deepEqual(without.addons, [], name);
    assert.equal(await without.main(), "wasm");
    const named = new RegExp(`backend_unavailable[^]*${addon}|${addon}[^]*backend_unavailable`);
    await assert.rejects(without.main({ POLYFLAKE_BACKEND: "native" }), ({ stderr }) => named.test(stderr));
  }
  assert(!asked.includes("other.tgz"), "an addon of another platform was asked for");
} finally {
  server.close();
  rmSync(root, { recursive: true });
}
