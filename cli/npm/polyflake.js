#!/usr/bin/env node
// Starts the program that npm installed for this platform.
const { spawnSync } = require("node:child_process");
const { optionalDependencies } = require("./package.json");

const { platform, arch, report } = process;
const libc = platform === "linux" && !report.getReport().header.glibcVersionRuntime ? "-musl" : "-gnu";
const wanted = `@polyflake/cli-${platform}-${arch}`;
const name = [wanted, wanted + libc].find((name) => name in optionalDependencies);

const { status, signal, error } = spawnSync(program(), process.argv.slice(2), { stdio: "inherit" });
if (error) end(error.message);
if (signal) process.kill(process.pid, signal);
process.exitCode = status ?? 1;

function program() {
  if (!name) end(`no program is built for ${platform}-${arch}: cargo install polyflake-cli`);
  try {
    return require.resolve(`${name}/polyflake${platform === "win32" ? ".exe" : ""}`);
  } catch {
    return end(`${name} is not installed: npm leaves it out with --omit=optional and --no-optional`);
  }
}

function end(reason) {
  console.error(`polyflake: ${reason}`);
  process.exit(1);
}
