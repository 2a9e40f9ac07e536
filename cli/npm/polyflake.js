#!/usr/bin/env node
// Starts the program that npm installed for this platform.
const { spawnSync } = require("node:child_process");
const { optionalDependencies } = require("./package.json");

const { platform, arch, report } = process;
const libcSuffix = platform === "linux" && !report.getReport().header.glibcVersionRuntime ? "-musl" : "-gnu";
const platformPackage = `@polyflake/cli-${platform}-${arch}`;
const name = [platformPackage, platformPackage + libcSuffix].find((name) => name in optionalDependencies);

const { status, signal, error } = spawnSync(findProgram(), process.argv.slice(2), { stdio: "inherit" });
if (error) exitWithError(error.message);
if (signal) process.kill(process.pid, signal);
process.exitCode = status ?? 1;

function findProgram() {
  if (!name) exitWithError(`no program is built for ${platform}-${arch}: cargo install polyflake-cli`);
  try {
    return require.resolve(`${name}/polyflake${platform === "win32" ? ".exe" : ""}`);
  } catch {
    return exitWithError(`${name} is not installed: npm leaves it out with --omit=optional and --no-optional`);
  }
}

function exitWithError(reason) {
  console.error(`polyflake: ${reason}`);
  process.exit(1);
}
