/** Helpers that run the build's programs, such as cargo, and locate the build's folders. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const PACKAGE = new URL("..", import.meta.url).pathname;
export const REPOSITORY = join(PACKAGE, "../..");

/** The separator of compiler flags in `CARGO_ENCODED_RUSTFLAGS`. It is not a space, because a flag may contain spaces. */
const SEPARATOR = "\x1f";

/** Runs a program in the repository, with its output on the terminal. */
export function run(program, ...args) {
  execFileSync(program, args, { cwd: REPOSITORY, stdio: "inherit" });
}

/**
 * Runs cargo with compiler flags in addition to the user's own. Flags in an environment variable replace those in
 * cargo's configuration. Therefore, if the user has set such a variable, the flags are added to that variable.
 * Otherwise, they are added to the configuration.
 */
export function cargo(flags, ...args) {
  const { RUSTFLAGS, CARGO_ENCODED_RUSTFLAGS, ...env } = process.env;
  const callerFlags = CARGO_ENCODED_RUSTFLAGS?.split(SEPARATOR) ?? RUSTFLAGS?.split(" ");
  const allFlags = [...pathRemappingFlags(), ...flags];
  if (callerFlags) env.CARGO_ENCODED_RUSTFLAGS = [...callerFlags, ...allFlags].filter(Boolean).join(SEPARATOR);
  const config = callerFlags ? [] : ["--config", `target."cfg(all())".rustflags=${JSON.stringify(allFlags)}`];
  execFileSync("cargo", [...args, ...config], { cwd: REPOSITORY, stdio: "inherit", env });
}

/**
 * Returns flags that replace local paths in built files with fixed paths, so that builds on different computers are
 * identical. The last match wins, so inner folders come last. tools/xtask/src/build.rs has the same flags for the wheel.
 */
function pathRemappingFlags() {
  const home = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  const registry = join(home, "registry/src");
  const indexes = existsSync(registry) ? readdirSync(registry).map((index) => [join(registry, index), "/cargo"]) : [];
  const sysroot = captureOutput("rustc", "--print", "sysroot");
  const folders = [
    [home, "/cargo"],
    ...indexes,
    [sysroot, "/rust"],
    [REPOSITORY, "/polyflake"],
    [targetDirectory(), "/target"],
  ];
  return folders.map(([folder, name]) => `--remap-path-prefix=${folder}=${name}`);
}

/** Returns the output of a program. */
export function captureOutput(program, ...args) {
  return execFileSync(program, args, { cwd: REPOSITORY, encoding: "utf8", maxBuffer: 1 << 26 }).trim();
}

/** Returns the folder into which cargo builds. */
export function targetDirectory() {
  return JSON.parse(captureOutput("cargo", "metadata", "--no-deps", "--format-version=1")).target_directory;
}

/** Adds a target to the toolchain, if it is missing and rustup is installed. */
export function addTarget(target) {
  try {
    if (!captureOutput("rustup", "target", "list", "--installed").split("\n").includes(target))
      run("rustup", "target", "add", target);
  } catch (failure) {
    if (failure.code !== "ENOENT") throw failure;
  }
}
