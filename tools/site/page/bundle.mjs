/** Bundles scripts and style sheets that contain the inspector's module. */
import { join } from "node:path";
import { build } from "esbuild";

const FOLDER = import.meta.dirname;
const REPOSITORY = join(FOLDER, "../../..");

/** Returns a plugin that finds the inspector's module in a folder, and the pictures in the repository. */
function aliases(module) {
  const files = { "inspect.wasm": "inspect_page_bg.wasm", inspect: "inspect_page_bg.js" };
  return {
    name: "ours",
    setup({ onResolve }) {
      onResolve({ filter: /^inspect(\.wasm)?$/ }, ({ path }) => ({ path: join(module, files[path]) }));
      onResolve({ filter: /^favicon\.svg$/ }, () => ({ path: join(FOLDER, "../src/favicon.svg") }));
      onResolve({ filter: /^pictures\// }, ({ path }) => ({ path: join(REPOSITORY, "docs", path) }));
    },
  };
}

const options = (module) => ({
  absWorkingDir: join(FOLDER, ".."),
  nodePaths: [join(FOLDER, "../node_modules")],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  conditions: ["browser"],
  loader: { ".wasm": "binary", ".svg": "dataurl" },
  plugins: [aliases(module)],
});

/** Returns a script or a style sheet as text. */
export async function bundle(entry, module) {
  const { outputFiles } = await build({ ...options(module), entryPoints: [join(FOLDER, entry)], write: false });
  return outputFiles[0].text;
}

/** Writes the landing page's script. The inspector and the generator are separate files, which load when they are used. */
export async function buildLandingScript(module, out) {
  const entryPoints = { landing: join(FOLDER, "../src/landing.js") };
  await build({ ...options(module), entryPoints, outdir: out, splitting: true, chunkNames: "landing-[name]-[hash]" });
}
