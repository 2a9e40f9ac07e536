/** The platforms that addons are built for. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { REPOSITORY } from "./tools.mjs";

/** Rows of packages/platforms.toml. */
export const PLATFORMS = parse(readFileSync(join(REPOSITORY, "packages/platforms.toml"), "utf8")).platform;

/** Name of the package that brings a platform's addon. */
export const packageOf = ({ name }) => `@polyflake/addon-${name}`;

/** Names of the platforms that Node on an operating system and a processor may be, by `process.platform-process.arch`. */
export const NAMES = Object.fromEntries(
  PLATFORMS.map(({ os, cpu }) => [
    `${os}-${cpu}`,
    PLATFORMS.filter((other) => other.os === os && other.cpu === cpu).map(({ name }) => name),
  ]),
);

/** The platform of this machine's Node. */
export function thisPlatform() {
  const { platform, arch } = process;
  const isMusl = platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
  const found = PLATFORMS.find(({ os, cpu, libc }) => os === platform && cpu === arch && (libc === "musl") === isMusl);
  if (!found) throw new Error(`no addon is built for ${platform}-${arch}`);
  return found;
}
