// Installs the package from a local registry that contains the package and the addon packages for all platforms. npm
// must install only this machine's addon. If npm is configured to omit the addon or to target a different platform, it
// must not install any addon.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { readManifest, serve } from "./serve.mjs";

const TARBALLS = ["polyflake.tgz", "addon.tgz"];
const run = promisify(execFile);

/**
 * The addon packages for all platforms. Only the package for this machine has a tarball, and npm must not request the
 * tarball of any other addon package.
 */
const addons = Object.entries(readManifest("polyflake.tgz").optionalDependencies).map(([name, version]) => {
  const [, os, cpu, abi] = name.match(/^@polyflake\/addon-(\w+)-(\w+)(?:-(\w+))?$/);
  const libc = os === "linux" ? { libc: [abi === "gnu" ? "glibc" : "musl"] } : {};
  return { name, version, os: [os], cpu: [cpu], ...libc };
});
const { address: registry, asked, close } = await serve(TARBALLS, addons);
const { name: addon } = readManifest("addon.tgz");

/** Installs the package into a new project. Returns the installed addons, and a function that runs a program there. */
async function install(folder, ...options) {
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
  const whole = await install(join(root, "whole"));
  assert.deepEqual(whole.addons, [addon]);
  assert.equal(await whole.main(), "native");
  assert(asked.includes("addon.tgz"));

  for (const [name, ...options] of [
    ["omitted", "--omit=optional"],
    ["elsewhere", "--os=freebsd"],
  ]) {
    const without = await install(join(root, name), ...options);
    assert.deepEqual(without.addons, [], name);
    assert.equal(await without.main(), "wasm");
    const named = new RegExp(`backend_unavailable[^]*${addon}|${addon}[^]*backend_unavailable`);
    await assert.rejects(without.main({ POLYFLAKE_BACKEND: "native" }), ({ stderr }) => named.test(stderr));
  }
  assert(!asked.includes("other.tgz"), "an addon of another platform was asked for");
} finally {
  close();
  rmSync(root, { recursive: true });
}
