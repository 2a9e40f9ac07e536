/**
 * Finds the native addon at run time and loads it.
 *
 * The addon is in a package for its platform, which is an optional dependency of this package. In a repository checkout, the
 * addon that was built there is in the `prebuilds` folder.
 *
 * Bundlers follow calls to `require`, even if `createRequire` returned the function, and then fail on a `.node` file or
 * relocate it. This file therefore obtains `createRequire` in a way that bundlers do not detect, and assembles the names of
 * the packages at run time. A bundle contains no addon, but it uses the addon from an installed package of the same
 * version. `process.dlopen` is not a substitute, because each call creates a new environment, while `require` returns the
 * same addon to all copies of the package on a thread.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import nodeModule, { type createRequire } from "node:module";
import { dirname, isAbsolute, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const PLATFORM = `${process.platform}-${process.arch}`;

/**
 * The names of the platforms whose addons may work on this host. On Linux, the addons for both C libraries are tried,
 * because an addon for the wrong C library does not load.
 */
const CANDIDATE_PLATFORMS = PLATFORMS[PLATFORM] ?? [];

const packageOf = (name: string) => `@polyflake/addon-${name}`;

/** The part of an error message that states which addon is missing. */
export const expectedAddon =
  CANDIDATE_PLATFORMS.length === 0
    ? `a platform with a native addon, found ${PLATFORM}`
    : `the package ${CANDIDATE_PLATFORMS.map(packageOf).join(" or ")}, found none that loads`;

/** Returns the exports of the first addon that loads successfully. */
export function loadAddon(): unknown {
  const failures: unknown[] = [];
  for (const folder of packageFolders()) {
    for (const name of CANDIDATE_PLATFORMS) {
      try {
        return requireAddon(folder, name);
      } catch (failure) {
        failures.push(failure);
      }
    }
  }
  if (failures.length === 0) failures.push(new Error(`expected an installed polyflake ${VERSION}, found none`));
  throw new AggregateError(failures, `no native addon for ${PLATFORM}`);
}

/**
 * Loads the addon for a platform: the one that was built in the package's folder, or the one that was installed as a
 * dependency.
 */
function requireAddon(folder: string, name: string): unknown {
  const requireAt = Reflect.get(nodeModule, "createRequire") as typeof createRequire;
  const load = requireAt(join(folder, "package.json"));
  const built = join(folder, "prebuilds", name, "polyflake.node");
  if (existsSync(built)) return load(built);
  const { version } = load(`${packageOf(name)}/package.json`);
  if (version === VERSION) return load(packageOf(name));
  throw new Error(`expected ${packageOf(name)} ${VERSION}, found ${version}`);
}

/**
 * Returns the folders that contain this version of the package. The candidates are the folder that contains this file, and the
 * `polyflake` packages in `node_modules` folders above this file or above the program.
 */
function packageFolders(): string[] {
  const file = thisFile();
  const origins = [file, process.argv[1]].filter((path) => path !== undefined).map((path) => dirname(resolve(path)));
  const packageFolder = file && DIST_PATTERN.test(file) ? [resolve(dirname(file), "../..")] : [];
  const moduleFolders = origins.flatMap(ancestors).map((folder) => join(folder, "node_modules", "polyflake"));
  // Some installers install packages as links. In that case, the dependencies are next to the folder that the link
  // points to.
  return [...new Set([...packageFolder, ...moduleFolders].filter(isThisVersion).map((folder) => realpathSync(folder)))];
}

/** The location of this code within the package. */
const DIST_PATTERN = /[\\/]dist[\\/](esm|cjs)[\\/][^\\/]+$/;

/**
 * Returns the path of the file that contains this code, as the engine reports it, or undefined for code without a file, such as
 * code in `eval`.
 *
 * Bundlers can replace `import.meta.url` and `__filename` with the path of the source on the build host. A bundle that runs on
 * another host must not load anything from that path, because other users may own the folder there.
 */
function thisFile(): string | undefined {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    Error.prepareStackTrace = (_, [site]) => site?.getFileName();
    Error.stackTraceLimit = 1;
    const { stack: name }: { stack?: unknown } = new Error();
    const file = typeof name === "string" && name.startsWith("file:") ? fileURLToPath(name) : name;
    return typeof file === "string" && isAbsolute(file) ? file : undefined;
  } catch {
    return undefined;
  } finally {
    restoreStackTraces({ prepareStackTrace, stackTraceLimit });
  }
}

/** Restores the settings for stack traces, unless all built-in objects are frozen. */
function restoreStackTraces(settings: Pick<ErrorConstructor, "prepareStackTrace" | "stackTraceLimit">): void {
  if (!Object.isFrozen(Error)) Object.assign(Error, settings);
}

/** Returns a folder and all its parent folders. */
function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}

/** Returns whether a folder contains this version of the package. An addon of a different version can have different calls. */
function isThisVersion(folder: string): boolean {
  try {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return name === "polyflake" && version === VERSION;
  } catch {
    return false;
  }
}
