/**
 * Finds the native addon at run time and loads it.
 *
 * Bundlers follow `require`, also one made by `createRequire`, and stop at a `.node` file or move it. So `createRequire` is
 * taken by a name that none of them reads, and paths are put together here: a bundle carries no addon, but uses that of an
 * installed package of the same version. `process.dlopen` would not do: each call makes another environment, while `require`
 * gives all copies of the package on a thread the same addon.
 */
import { readFileSync } from "node:fs";
import nodeModule, { type createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const PLACE = `${process.platform}-${process.arch}`;

/** What the first addon that loads here exports: Linux has two C libraries. */
export function loadAddon(): unknown {
  const requireAt = Reflect.get(nodeModule, "createRequire") as typeof createRequire;
  const failures: unknown[] = [];
  for (const folder of packageFolders()) {
    for (const place of [PLACE, `${PLACE}-musl`]) {
      try {
        return requireAt(join(folder, "package.json"))(join(folder, "prebuilds", place, "polyflake.node"));
      } catch (failure) {
        failures.push(failure);
      }
    }
  }
  if (failures.length === 0) failures.push(new Error(`expected an installed polyflake ${VERSION}, found none`));
  throw new AggregateError(failures, `no native addon for ${PLACE}`);
}

/** Where this version of the package is installed: around this file, or where Node looks from a bundle or from the program. */
function packageFolders(): string[] {
  const starts = [thisFile(), process.argv[1]].filter((path) => path !== undefined).map((path) => dirname(resolve(path)));
  const around = starts.slice(0, 1).map((folder) => resolve(folder, "../.."));
  const beside = starts.flatMap(ancestors).map((folder) => join(folder, "node_modules", "polyflake"));
  return [...new Set([...around, ...beside])].filter(isThisVersion);
}

/** The file of this code, as far as a bundler left that to be known: the first is empty in CommonJS, the second unknown in ES modules. */
function thisFile(): string | undefined {
  try {
    const url: string = import.meta.url ?? __filename;
    return url.startsWith("file:") ? fileURLToPath(url) : url;
  } catch {
    return undefined;
  }
}

/** A folder, the one that it lies in, and so on. */
function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}

/** An addon of another version may have other calls. */
function isThisVersion(folder: string): boolean {
  try {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return name === "polyflake" && version === VERSION;
  } catch {
    return false;
  }
}
