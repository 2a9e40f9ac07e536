// Creates realms in the same way as test runners and edge sandboxes. The package's files run in a realm that is
// separate from Node's.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { build } from "esbuild";

const require = createRequire(import.meta.url);
const DIST = fileURLToPath(new URL("../dist/", import.meta.url));

/**
 * Creates a realm that provides only the language's built-ins and the given globals. `options` are passed to
 * `vm.createContext`.
 */
export function createRealm(globals = {}, options = {}) {
  return vm.createContext({ ...globals }, options);
}

/** Runs a file in `dist/cjs` and its imports in a realm, as Jest does. Returns the file's exports. */
export function requireIn(context, name) {
  const modules = new Map();
  const load = (path) => {
    if (modules.has(path)) return modules.get(path).exports;
    const module = { exports: {} };
    modules.set(path, module);
    const inside = (specifier) =>
      specifier.startsWith(".") ? load(join(dirname(path), specifier)) : require(specifier);
    const parameters = ["module", "exports", "require", "__filename", "__dirname"];
    const run = vm.compileFunction(readFileSync(path, "utf8"), parameters, { parsingContext: context, filename: path });
    run(module, module.exports, inside, path, dirname(path));
    return module.exports;
  };
  return load(join(DIST, "cjs", `${name}.js`));
}

/**
 * Bundles the package for an export condition, runs the bundle in a realm, and returns the package's exports. The wasm
 * modules belong to the current realm, just as an edge runtime's modules belong to its host's realm.
 */
export async function bundleIn(context, condition, compile = compileModule) {
  const compiled = {
    name: "compiled",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /\.wasm(\?module)?$/ }, ({ path }) => ({
        path: path.replace("?module", ""),
        namespace: "compiled",
      }));
      onLoad({ filter: /.*/, namespace: "compiled" }, ({ path }) => ({
        contents: `export default COMPILED[${JSON.stringify(path)}];`,
      }));
    },
  };
  const { outputFiles } = await build({
    stdin: { contents: 'export * from "polyflake";', resolveDir: dirname(fileURLToPath(import.meta.url)) },
    bundle: true,
    format: "iife",
    globalName: "polyflake",
    conditions: [condition],
    write: false,
    plugins: [compiled],
  });
  const families = ["hotguid", "layout", "randflake", "sno", "uuid7"];
  context.COMPILED = Object.fromEntries(families.map((family) => [`./${family}.wasm`, compile(family)]));
  return vm.runInContext(`${outputFiles[0].text}; polyflake`, context);
}

const compileModule = (family) => new WebAssembly.Module(readFileSync(join(DIST, `esm/${family}.wasm`)));
