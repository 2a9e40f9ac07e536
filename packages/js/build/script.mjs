/** The TypeScript: one bundle for each entry point and module format, and the types. */
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { PACKAGE, run } from "./tools.mjs";
import { GLUE, MODULE } from "./wasm.mjs";

const DIST = join(PACKAGE, "dist");

/** Each entry point is the same code over another machine. */
const MACHINES = {
  esm: { node: "node", native: "native", wasm: "inline", workerd: "workerd", "edge-light": "edge-light" },
  cjs: { node: "node", native: "native", wasm: "inline" },
};

/** Files of their own, which the bundles share: the one class of errors, and the module as text. */
const SHARED = /\/(errors|wasm-base64)\.js$|^#wasm-base64$/;

export async function buildScript() {
  rmSync(DIST, { recursive: true, force: true });
  for (const format of ["esm", "cjs"]) await buildFormat(format);
  copyFileSync(MODULE, join(DIST, "esm/polyflake.wasm"));
  run(process.execPath, join(PACKAGE, "node_modules/typescript/bin/tsc"), "--project", join(PACKAGE, "tsconfig.json"));
  writeFileSync(join(DIST, "cjs/package.json"), '{ "type": "commonjs" }\n');
  cpSync(join(DIST, "esm"), join(DIST, "cjs"), {
    recursive: true,
    filter: (path) => !/\.(js|wasm)$/.test(path),
  });
}

async function buildFormat(format) {
  const outdir = join(DIST, format);
  mkdirSync(outdir, { recursive: true });
  await bundle(format, join(PACKAGE, "src/errors.ts"), "errors");
  await bundle(format, join(PACKAGE, "src/decode.ts"), "decode");
  for (const [entry, machine] of Object.entries(MACHINES[format])) {
    await bundle(format, join(PACKAGE, "src/index.ts"), entry, join(PACKAGE, `src/machines/${machine}.ts`));
  }
  const base64 = readFileSync(MODULE).toString("base64");
  writeFileSync(join(outdir, "wasm-base64.js"), `${format === "esm" ? "export const base64" : "exports.base64"} = "${base64}";\n`);
}

function bundle(format, input, entry, machine) {
  return build({
    entryPoints: { [entry]: input },
    outdir: join(DIST, format),
    bundle: true,
    format,
    target: "es2022",
    // For CommonJS, what tells Node the names that modules may import.
    platform: format === "cjs" ? "node" : "neutral",
    logLevel: "warning",
    external: ["node:*", "*.wasm", "*.wasm?module"],
    ...(format === "cjs" ? { define: { "import.meta.url": "__filename" } } : {}),
    plugins: [names(machine)],
  });
}

/** Puts files in the place of names: see src/declarations.d.ts. */
function names(machine) {
  return {
    name: "names",
    setup({ onResolve }) {
      onResolve({ filter: /^#machine$/ }, () => ({ path: machine }));
      onResolve({ filter: /^#wasm$/ }, () => ({ path: join(GLUE, "polyflake_wasm.js"), sideEffects: false }));
      onResolve({ filter: SHARED }, ({ path, kind }) => {
        if (kind === "entry-point") return undefined;
        return { path: `./${path.replace(/^#|^.*\//, "").replace(/\.js$/, "")}.js`, external: true };
      });
    },
  };
}
