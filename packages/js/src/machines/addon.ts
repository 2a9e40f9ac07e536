/**
 * Finds the native addon at run time and loads it.
 *
 * The addon comes in a package of its platform, which is an optional dependency of this one. A checkout has the addon that was built
 * there, in its folder `prebuilds`.
 *
 * Bundlers follow `require`, also one from `createRequire`, and fail at a `.node` file or move it. So this file gets
 * `createRequire` in a way that no bundler sees, and puts names together itself: a bundle carries no addon, but uses the addon of
 * an installed package of the same version. `process.dlopen` is no substitute: each call makes another environment, while
 * `require` gives all copies of the package on a thread the same addon.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import nodeModule, { type createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const PLACE = `${process.platform}-${process.arch}`;

/** The platforms that this machine may be. Both of Linux are tried: an addon for the other C library does not load. */
const NAMES = PLATFORMS[PLACE] ?? [];

const packageOf = (name: string) => `@polyflake/addon-${name}`;

/** The text of an error that says what this machine lacks. */
export const expected =
  NAMES.length === 0
    ? `a platform with a native addon, found ${PLACE}`
    : `the package ${NAMES.map(packageOf).join(" or ")}, found none that loads`;

/** The exports of the first addon that loads. */
export function loadAddon(): unknown {
  const failures: unknown[] = [];
  for (const folder of packageFolders()) {
    for (const name of NAMES) {
      try {
        return addonOf(folder, name);
      } catch (failure) {
        failures.push(failure);
      }
    }
  }
  if (failures.length === 0) failures.push(new Error(`expected an installed polyflake ${VERSION}, found none`));
  throw new AggregateError(failures, `no native addon for ${PLACE}`);
}

/** The addon of a platform: the one built in the package's folder, or the installed one that the package depends on. */
function addonOf(folder: string, name: string): unknown {
  const requireAt = Reflect.get(nodeModule, "createRequire") as typeof createRequire;
  const load = requireAt(join(folder, "package.json"));
  const built = join(folder, "prebuilds", name, "polyflake.node");
  if (existsSync(built)) return load(built);
  const { version } = load(`${packageOf(name)}/package.json`);
  if (version === VERSION) return load(packageOf(name));
  throw new Error(`expected ${packageOf(name)} ${VERSION}, found ${version}`);
}

/** The folders of this version of the package: around this file, or where Node looks from a bundle or from the program. */
function packageFolders(): string[] {
  const starts = [thisFile(), process.argv[1]]
    .filter((path) => path !== undefined)
    .map((path) => dirname(resolve(path)));
  const around = starts.slice(0, 1).map((folder) => resolve(folder, "../.."));
  const beside = starts.flatMap(ancestors).map((folder) => join(folder, "node_modules", "polyflake"));
  // Some installers link packages, whose dependencies lie beside the folder that the link leads to.
  return [...new Set([...around, ...beside].filter(isThisVersion).map((folder) => realpathSync(folder)))];
}

/** The file of this code, unless a bundler hid it: `import.meta.url` is empty in CommonJS, `__filename` unknown in ES modules. */
function thisFile(): string | undefined {
  try {
    const url: string = import.meta.url ?? __filename;
    return url.startsWith("file:") ? fileURLToPath(url) : url;
  } catch {
    return undefined;
  }
}

/** A folder and all folders above it. */
function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}

/** Returns whether a folder holds this version of the package: an addon of another version may have other calls. */
function isThisVersion(folder: string): boolean {
  try {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return name === "polyflake" && version === VERSION;
  } catch {
    return false;
  }
}
