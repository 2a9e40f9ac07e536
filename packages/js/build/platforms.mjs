/** The platforms that addons are built for. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { REPOSITORY } from "./tools.mjs";

/** The rows of packages/platforms.toml. */
export const PLATFORMS = parse(readFileSync(join(REPOSITORY, "packages/platforms.toml"), "utf8")).platform;

/** Returns the name of the package that contains a platform's addon. */
export const addonPackageName = ({ name }) => `@polyflake/addon-${name}`;

/**
 * The names of the possible platforms, keyed by `process.platform-process.arch`. On Linux, each key has one name per C
 * library, because neither property identifies the C library.
 */
export const PLATFORM_NAMES = Object.fromEntries(
  PLATFORMS.map(({ os, cpu }) => [
    `${os}-${cpu}`,
    PLATFORMS.filter((other) => other.os === os && other.cpu === cpu).map(({ name }) => name),
  ]),
);

/** Returns the platform of the running Node process. */
export function currentPlatform() {
  const { platform, arch } = process;
  const isMusl = platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
  const found = PLATFORMS.find(({ os, cpu, libc }) => os === platform && cpu === arch && (libc === "musl") === isMusl);
  if (!found) throw new Error(`no addon is built for ${platform}-${arch}`);
  return found;
}
