/** Builds the TypeScript: one bundle for each entry point and module format, and the types. */
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { NAMES } from "./platforms.mjs";
import { PACKAGE, run } from "./tools.mjs";
import { FAMILIES, glueOf, moduleOf } from "./wasm.mjs";

const DIST = join(PACKAGE, "dist");
const { version, exports } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));

/**
 * The entry points, which are the same code over different machines: the file of `machines` that loads a family's machine, and the
 * file that names its kind.
 */
const MACHINES = {
  node: ["node", "choice"],
  native: ["native", "native"],
  wasm: ["inline", "compiled"],
  workerd: ["workerd", "compiled"],
  "edge-light": ["edge-light", "compiled"],
  web: ["web", "compiled"],
};

/** The entry points of a format. */
const ENTRIES = { esm: Object.keys(MACHINES), cjs: ["node", "native", "wasm"] };

/** The namespaces of an entry point. As ES modules each is a file, so that bundlers leave out unused ones. */
const NAMESPACES = ["hotguid", "layout", "randflake", "sno", "sparx64"];

/** The other exports of an entry point. */
const BESIDE = ["backend", "clockSource", "PolyflakeError"];

/** The entry points for other people's libraries. */
const INTEGRATIONS = ["drizzle", "express", "hono", "kysely", "prisma", "schema", "typeorm"];

/** The entry points without a machine that bundles do not share, and their sources. */
const PLAIN = {
  decode: "decode",
  json: "json",
  ...Object.fromEntries(INTEGRATIONS.filter((name) => name !== "schema").map((name) => [name, `integrations/${name}`])),
};

/** Other people's libraries, which users install. */
const LIBRARIES = ["drizzle-orm", "hono", "kysely"];

/**
 * Files that entry points share: the class of errors, schemas, the functions that read IDs without a machine, and what the entry
 * points for other people's libraries have in common.
 */
const SHARED = {
  errors: "errors",
  ...Object.fromEntries(["standard", "schema", "forms", "parsers"].map((name) => [name, `integrations/${name}`])),
  ...Object.fromEntries(
    ["checks", "hotguid", "hotguid-bytes", "randflake", "sno", "sno-bytes", "words"].map((name) => [
      `decode-${name}`,
      `decode/${name}`,
    ]),
  ),
};

/** Sources of an entry point's separate files, by file name. */
const PARTS = Object.fromEntries([...NAMESPACES.map((name) => [name, `${name}/index`]), ["backend", "backend"]]);

/** The family whose machine opens the module of a namespace of the entry point `web`. */
const openerOf = (name) => (FAMILIES.includes(name) ? name : "randflake");

/** Entry points that take the place of `web` outside of browsers: the same code as under their own names. */
const STANDING_IN = { esm: ["node", "wasm", "workerd", "edge-light"], cjs: ["node", "wasm"] };

const source = (name) => join(PACKAGE, `src/${name}.ts`);

export async function buildScript() {
  rmSync(DIST, { recursive: true, force: true });
  for (const format of ["esm", "cjs"]) await buildFormat(format);
  for (const family of FAMILIES) copyFileSync(moduleOf(family), join(DIST, `esm/${family}.wasm`));
  run(process.execPath, join(PACKAGE, "node_modules/typescript/bin/tsc"), "--project", join(PACKAGE, "tsconfig.json"));
  writeTypesOfWeb();
  writeTypesOfIntegrations();
  writeFileSync(join(DIST, "cjs/package.json"), '{ "type": "commonjs" }\n');
  cpSync(join(DIST, "esm"), join(DIST, "cjs"), {
    recursive: true,
    filter: (path) => !/\.(js|wasm)$/.test(path),
  });
  writeFolders();
}

/** Writes a folder for each subpath of the package, for tools that ignore `exports`: TypeScript's node10, Parcel's default. */
function writeFolders() {
  for (const [path, conditions] of Object.entries(exports)) {
    if (path === "." || typeof conditions === "string") continue;
    const { import: esm, require: cjs } = conditions.default ?? conditions;
    const entry = { main: `.${cjs.default}`, module: `.${esm.default}`, types: `.${cjs.types}`, sideEffects: false };
    mkdirSync(join(PACKAGE, path), { recursive: true });
    writeFileSync(join(PACKAGE, path, "package.json"), `${JSON.stringify(entry, undefined, 2)}\n`);
  }
}

async function buildFormat(format) {
  mkdirSync(join(DIST, format), { recursive: true });
  for (const [name, part] of Object.entries(SHARED)) await bundle(format, { [name]: source(part) });
  for (const [name, part] of Object.entries(PLAIN)) await bundle(format, { [name]: source(part) });
  STANDING_IN[format].forEach((entry) => standIn(format, entry));
  for (const entry of ENTRIES[format]) {
    if (format === "esm") await bundleNamespaces(entry);
    else await bundle(format, { [entry]: source("index") }, { entry });
  }
  for (const family of FAMILIES) {
    const base64 = readFileSync(moduleOf(family)).toString("base64");
    const left = format === "esm" ? "export const base64" : "exports.base64";
    writeFileSync(join(DIST, format, `${family}-base64.js`), `${left} = "${base64}";\n`);
  }
}

/** Bundles an entry point that exports its namespaces, and a file for each of them. */
async function bundleNamespaces(entry) {
  const fileOf = (name) => `${entry}-${name}`;
  const opened = (name) => entry === "web" && NAMESPACES.includes(name);
  const files = Object.entries(PARTS).map(([name, part]) => [
    fileOf(name),
    opened(name) ? `web:${name}` : source(part),
  ]);
  const external = Object.entries(PARTS).map(([name, part]) => [`./${part}.js`, `./${fileOf(name)}.js`]);
  await bundle("esm", { [entry]: source("index") }, { external });
  await bundle("esm", Object.fromEntries(files), { entry, shared: fileOf("shared") });
}

/** A plugin that adds `init` to the namespaces of the entry point `web`. */
const opened = {
  name: "opened",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^web:/ }, ({ path }) => ({
      path: path.slice("web:".length),
      namespace: "opened",
      sideEffects: false,
    }));
    onLoad({ filter: /./, namespace: "opened" }, ({ path: name }) => ({
      contents: `export * from "./${name}/index.js"; export { init } from "#machine/${openerOf(name)}";`,
      resolveDir: join(PACKAGE, "src"),
    }));
  },
};

/** Writes the types of the entry point `web`: the types of the others, and an `init` in each namespace. */
function writeTypesOfWeb() {
  const folder = join(DIST, "esm/web");
  const index = readFileSync(join(DIST, "esm/index.d.ts"), "utf8");
  const names = new RegExp(`"\\./(${NAMESPACES.join("|")})/index\\.js"`, "g");
  writeFileSync(
    `${folder}.d.ts`,
    `${index.replace(names, '"./web/$1.js"')}export type { Init, Source } from "./init.js";\n`,
  );
  mkdirSync(folder);
  for (const name of NAMESPACES) {
    const lines = [
      'import type { Init } from "../init.js";',
      `export * from "../${name}/index.js";`,
      "/** See {@link Init}. */",
      "export declare const init: Init;",
    ];
    writeFileSync(join(folder, `${name}.d.ts`), `${lines.join("\n")}\n`);
  }
}

/** Writes the types of the entry points for other people's libraries beside their code: those of their sources. */
function writeTypesOfIntegrations() {
  for (const name of INTEGRATIONS)
    writeFileSync(join(DIST, `esm/${name}.d.ts`), `export * from "./integrations/${name}.js";\n`);
}

/** Writes another entry point with an `init` for each namespace, which does nothing. */
function standIn(format, entry) {
  const write = (name, lines) => writeFileSync(join(DIST, format, `${name}.js`), `${lines.join("\n")}\n`);
  if (format === "cjs") {
    const namespaces = NAMESPACES.map((name) => `exports.${name} = { ...entry.${name}, init: async () => {} };`);
    const names = [...BESIDE, ...NAMESPACES].map((name) => `${name}: null`);
    // From the second line, Node learns the names that modules may import.
    const rest = `({ ${BESIDE.map((name) => `${name}: exports.${name}`).join(", ")} } = entry);`;
    return write(`web-${entry}`, [
      `const entry = require("./${entry}.js");`,
      `0 && (module.exports = { ${names.join(", ")} });`,
      rest,
      ...namespaces,
    ]);
  }
  write("web-init", ["export const init = async () => {};"]);
  for (const name of NAMESPACES)
    write(`web-${entry}-${name}`, [`export * from "./${entry}-${name}.js";`, 'export { init } from "./web-init.js";']);
  return write(`web-${entry}`, [
    `export * from "./${entry}.js";`,
    ...NAMESPACES.map((name) => `export * as ${name} from "./web-${entry}-${name}.js";`),
  ]);
}

function bundle(format, entryPoints, { entry, external = [], shared } = {}) {
  return build({
    entryPoints,
    outdir: join(DIST, format),
    bundle: true,
    splitting: shared !== undefined,
    chunkNames: `${shared}-[hash]`,
    format,
    target: "es2022",
    // For CommonJS, "node" adds the line from which Node learns the names that modules may import.
    platform: format === "cjs" ? "node" : "neutral",
    logLevel: "warning",
    external: ["node:*", "*.wasm", "*.wasm?module", ...LIBRARIES],
    define: {
      VERSION: JSON.stringify(version),
      PLATFORMS: JSON.stringify(NAMES),
    },
    plugins: [opened, ...FAMILIES.map((family) => machineOf(entry, family)), names(entry, external)],
  });
}

/**
 * A plugin for a family's machine in an entry point. It reads the files of `machines` that name `#family` for that family, and so
 * in the family's own namespace. All other files are the same for all families.
 */
function machineOf(entry, family) {
  const namespace = `machine-${family}`;
  // One addon has all families.
  const fileOf = (name) =>
    name === "native"
      ? { path: source("machines/native"), sideEffects: false }
      : { path: `src/machines/${name}.ts`, namespace, sideEffects: false };
  const named = {
    "#family": { path: glueOf(family), sideEffects: false },
    "#family-base64": { path: `./${family}-base64.js`, external: true },
    "#family.wasm": { path: `./${family}.wasm`, external: true },
    "#family.wasm?module": { path: `./${family}.wasm?module`, external: true },
    "./inline.js": fileOf("inline"),
  };
  return {
    name: namespace,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^#machine/${family}$`) }, () => fileOf(MACHINES[entry][0]));
      onResolve(
        { filter: /./, namespace },
        ({ path, resolveDir }) =>
          named[path] ?? { path: join(resolveDir, path).replace(/\.js$/, ".ts"), sideEffects: false },
      );
      onLoad({ filter: /./, namespace }, ({ path }) => {
        const file = join(PACKAGE, path);
        const contents = readFileSync(file, "utf8").replace('new URL("#family', `new URL("./${family}`);
        return { contents, loader: "ts", resolveDir: dirname(file) };
      });
    },
  };
}

/**
 * A plugin that replaces the name of the machine's kind (see src/declarations.d.ts), and leaves shared files outside of bundles.
 */
function names(entry, external) {
  const outside = new Map(external);
  return {
    name: "names",
    setup({ onResolve }) {
      onResolve({ filter: /^#backend$/ }, () => ({
        path: source(`machines/${MACHINES[entry][1]}`),
        sideEffects: false,
      }));
      onResolve({ filter: /./ }, ({ path, kind, resolveDir }) => {
        const file = kind === "entry-point" ? undefined : (outside.get(path) ?? sharedFile(path, resolveDir));
        return file && { path: file, external: true };
      });
    },
  };
}

/** The name of a file that the bundles share; undefined for other files. */
function sharedFile(path, folder) {
  const file = join(folder, path).replace(/\.js$/, ".ts");
  const name = Object.keys(SHARED).find((name) => source(SHARED[name]) === file);
  return name && `./${name}.js`;
}
