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
import { dirname, isAbsolute, join, resolve } from "node:path";
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
  const file = thisFile();
  const starts = [file, process.argv[1]].filter((path) => path !== undefined).map((path) => dirname(resolve(path)));
  const around = file && PACKED.test(file) ? [resolve(dirname(file), "../..")] : [];
  const beside = starts.flatMap(ancestors).map((folder) => join(folder, "node_modules", "polyflake"));
  // Some installers link packages, whose dependencies lie beside the folder that the link leads to.
  return [...new Set([...around, ...beside].filter(isThisVersion).map((folder) => realpathSync(folder)))];
}

/** Place of this code in the package. */
const PACKED = /[\\/]dist[\\/](esm|cjs)[\\/][^\\/]+$/;

/**
 * The file that this code runs in, as the engine names it; undefined for code without a file, such as that of `eval`.
 *
 * Bundlers may replace `import.meta.url` and `__filename` by the place of the source on the machine that built the bundle. A bundle
 * that has left it must not load anything from there: other users may own that folder where the bundle runs.
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
    restore({ prepareStackTrace, stackTraceLimit });
  }
}

/** Restores what a stack looks like, unless all objects of the language are frozen. */
function restore(settings: Pick<ErrorConstructor, "prepareStackTrace" | "stackTraceLimit">): void {
  if (!Object.isFrozen(Error)) Object.assign(Error, settings);
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
