/** Builds the native addon for the current platform. */
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { currentPlatform } from "./platforms.mjs";
import { cargo, PACKAGE, run, targetDirectory } from "./tools.mjs";

const LIBRARY_FILES = { win32: "polyflake_node.dll", darwin: "libpolyflake_node.dylib" };

/**
 * Builds the addon into `prebuilds/<platform>`, where `src/machines/addon.ts` finds it. With `dev`, the addon is faster
 * to build but slower to run.
 */
export function buildNative(dev) {
  const profile = dev ? "quick" : "release";
  const build = ["build", "--package", "polyflake-node", "--profile", profile];
  // A development build sets no flags, so that it reuses the compiled core crate of other development builds.
  if (dev) run("cargo", ...build);
  else cargo([], ...build);
  const library = LIBRARY_FILES[process.platform] ?? "libpolyflake_node.so";
  const folder = join(PACKAGE, "prebuilds", currentPlatform().name);
  mkdirSync(folder, { recursive: true });
  // Remove the old file first, so that a process that has already loaded it keeps its copy.
  rmSync(join(folder, "polyflake.node"), { force: true });
  copyFileSync(join(targetDirectory(), profile, library), join(folder, "polyflake.node"));
}
