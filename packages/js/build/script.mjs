/**
 * Builds the TypeScript.
 *
 * Node gets CommonJS under every export condition, so that a process has only one copy of the package and of each
 * class. The only exceptions are short ES modules that use the CommonJS files: one that waits for leases, and one that
 * imports the ES modules of Drizzle. This also prevents missing files on servers: Nitro, for example, copies the files that one set of conditions
 * selects, but Node then loads the files that another set selects. All other runtimes get ES modules, from which
 * bundlers can remove unused code.
 *
 * All entry points are built from the same sources, but with different backends. In ES modules, each entry point has
 * its own copy of every file that imports a backend, directly or indirectly (the plugin `machinesPlugin`). In
 * CommonJS, these files exist only once, wrapped in a function whose parameter contains the backends (the plugin
 * `commonPlugin`), because native and wasm may be loaded side by side in one process.
 */
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { PLATFORM_NAMES } from "./platforms.mjs";
import { PACKAGE, run } from "./tools.mjs";
import { FAMILIES, gluePath, modulePath, RULES_WASM_PATH } from "./wasm.mjs";

const SOURCES = join(PACKAGE, "src");
const DIST = join(PACKAGE, "dist");
/** The folder to which tsc writes the types of each source file. */
const TYPES_FOLDER = join(PACKAGE, "build/out/types");
const { version, exports } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));

/**
 * The entry points, each with two files of `src/machines`: the file that loads the backend of an ID format, and the
 * file that names the kind of backend.
 */
const BACKEND_FILES = {
  node: ["node", "choice"],
  native: ["native", "native"],
  wasm: ["inline", "compiled"],
  workerd: ["workerd", "compiled"],
  "edge-light": ["edge-light", "compiled"],
  web: ["web", "compiled"],
};

/**
 * The CommonJS entry points, which pass their backends to one shared file. The next constant lists the ES module entry
 * points.
 */
const COMMONJS_ENTRIES = ["node", "native", "wasm"];
const ES_MODULE_ENTRIES = ["wasm", "workerd", "edge-light", "web"];

/**
 * The namespaces of an entry point. Each namespace becomes a separate ES module file, so that bundlers can drop unused
 * namespaces.
 */
const NAMESPACES = [...FAMILIES, "sparx64"].sort();

/** Returns the ID format whose wasm module contains a namespace. */
const moduleName = (namespace) => (namespace === "sparx64" ? "randflake" : namespace);

/** The entry points without a backend, and their sources. */
const PLAIN_ENTRIES = {
  decode: "decode",
  json: "json",
  lease: "lease/index",
  ...Object.fromEntries(["drizzle", "forms", "prisma", "schema"].map((name) => [name, `integrations/${name}`])),
};

/**
 * The source of the lease entry point for Workers. Workers are ES modules, and import the lease rules as a wasm module. The
 * CommonJS file is for unit tests in Node.
 */
const CLOUDFLARE_SOURCE = "lease/cloudflare";

/** The sources of the types that package.json names. */
export const TYPES_ENTRIES = {
  index: "index",
  ...PLAIN_ENTRIES,
  "lease-cloudflare": CLOUDFLARE_SOURCE,
  ...Object.fromEntries(NAMESPACES.map((name) => [name, `${name}/index`])),
};

const sourcePath = (name) => join(SOURCES, `${name}.ts`);

/**
 * The type declarations of the package's `.wasm` files. Importing such a file returns the address of the wasm module.
 * Some bundlers must be configured to support such imports.
 */
const ADDRESS_TYPES = "declare const address: string;\nexport default address;\n";

export async function buildScript() {
  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(join(DIST, "cjs"), { recursive: true });
  await bundleModules();
  await bundleCommonJs();
  for (const family of FAMILIES) {
    copyFileSync(modulePath(family), join(DIST, `esm/${family}.wasm`));
    const base64 = readFileSync(modulePath(family)).toString("base64");
    writeFileSync(join(DIST, `esm/${family}-base64.js`), `export const base64 = "${base64}";\n`);
    writeFileSync(join(DIST, `cjs/${family}-base64.js`), `exports.base64 = "${base64}";\n`);
  }
  copyFileSync(RULES_WASM_PATH, join(DIST, "esm/lease.wasm"));
  await writeTypes();
  writeFileSync(join(DIST, "cjs/package.json"), '{ "type": "commonjs" }\n');
  writeNamespace("wasm", "public");
  for (const name of NAMESPACES) writeNamespace("node", name);
  writeFileSync(join(DIST, "cjs/lease-pg.js"), PG_IMPORT + readFileSync(join(DIST, "cjs/lease.js"), "utf8"));
  for (const name of ["lease", "lease-pg"]) {
    writeFileSync(join(DIST, `esm/${name}-node.js`), createPreloadedModule(name));
    appendFileSync(join(DIST, `cjs/${name}.js`), createTracedPath(name));
  }
  writeFileSync(join(DIST, "esm/drizzle-node.js"), NODE_DRIZZLE_MODULE);
  writeFolders();
}

/**
 * Returns the source of the lease entry point that `import` loads in Node. The program starts once the default
 * generators have their worker IDs.
 *
 * The export condition `node-addons` selects this file. Only Node itself sets this condition, and bundlers must not
 * select the file, because most bundles do not support top-level `await`. File tracers that do not support the
 * condition would omit this file from a server. Therefore, the file that tracers select ends with a statement that
 * contains this file's path (`createTracedPath`).
 *
 * TypeScript reads the types of the CommonJS file, whose exports are also its default export, so this file has the same
 * default export.
 */
const createPreloadedModule = (name) =>
  [
    `import common from "../cjs/${name}.js";`,
    "export const { PolyflakeError, check, close, lease, ready } = common;",
    "export default common;",
    // `lease_unavailable` is ignored, because the store may recover and a warning has already been emitted. Any other
    // error, such as an invalid variable, is permanent.
    'await ready().catch((error) => error.code !== "lease_unavailable" && Promise.reject(error));\n',
  ].join("\n");

/**
 * Returns a statement that has no effect, but makes file tracers copy an ES module together with a CommonJS file. If a
 * bundler has converted the file to an ES module, `__dirname` does not exist.
 */
const createTracedPath = (name) => `if (typeof __dirname === "string") void (__dirname + "/../esm/${name}-node.js");\n`;

/**
 * The source of the Drizzle entry point that `import` loads in Node. It imports the ES modules of Drizzle, which the
 * program imports as well. With the CommonJS files, the columns would belong to classes of a second copy of Drizzle.
 */
const NODE_DRIZZLE_MODULE = [
  'import { customType as mysqlColumn } from "drizzle-orm/mysql-core";',
  'import { customType as pgColumn } from "drizzle-orm/pg-core";',
  'import { customType as sqliteColumn } from "drizzle-orm/sqlite-core";',
  'import { createColumns, MYSQL_TYPES, PG_TYPES, SQLITE_TYPES } from "../cjs/drizzle-columns.js";',
  'export { PolyflakeError } from "../cjs/drizzle-columns.js";',
  "export const mysql = /* @__PURE__ */ createColumns(MYSQL_TYPES, mysqlColumn);",
  "export const pg = /* @__PURE__ */ createColumns(PG_TYPES, pgColumn);",
  "export const sqlite = /* @__PURE__ */ createColumns(SQLITE_TYPES, sqliteColumn);\n",
].join("\n");

/**
 * The code that loads pg with a literal `require` call, so that bundlers and file tracers include pg in bundles and in
 * servers that run outside of the project.
 */
const PG_IMPORT = `try {
  globalThis[Symbol.for("polyflake.pg")] = require("pg");
} catch (cause) {
  const { PolyflakeError } = require("./readers.js");
  throw new PolyflakeError("out_of_range", "expected the module pg, found none: npm install pg", { cause });
}
`;

/** Writes a file for a namespace of a CommonJS entry point. */
function writeNamespace(entry, name) {
  const names = Object.keys(createRequire(import.meta.url)(join(DIST, `cjs/${entry}.js`))[name]);
  writeNamedExports(`${entry}-${name}.js`, `require("./${entry}.js").${name}`, names);
}

/**
 * Writes a CommonJS file that exports each property of an object separately. When an ES module imports the file, Node
 * searches its source text for the names of exports, so it would not find the properties of an exported object.
 */
function writeNamedExports(file, object, names, mark = "") {
  const lines = names.map((name) => `exports.${name} = all.${name};\n`);
  writeFileSync(join(DIST, "cjs", file), `const all = ${object};\n${mark}${lines.join("")}`);
}

/**
 * Writes a folder for each subpath of the package, for tools that ignore `exports`, such as TypeScript with `node10`
 * resolution and Parcel with its default settings.
 */
function writeFolders() {
  for (const [path, conditions] of Object.entries(exports)) {
    const { module, types, require: cjs = conditions.default } = conditions;
    if (path === "." || path.includes("*") || !cjs?.includes("/cjs/")) continue;
    const from = (file) => file && path.split("/").fill("..", 1).slice(1).join("/") + file.slice(1);
    const entry = { main: from(cjs), module: from(module), types: from(types.require), sideEffects: false };
    mkdirSync(join(PACKAGE, path), { recursive: true });
    writeFileSync(join(PACKAGE, path, "package.json"), `${JSON.stringify(entry, undefined, 2)}\n`);
  }
}

/**
 * Builds the ES modules of all entry points: one file for each, one for each of its namespaces, and files for shared
 * code.
 */
async function bundleModules() {
  const input = sourcePaths({ ...PLAIN_ENTRIES, "lease-cloudflare": CLOUDFLARE_SOURCE });
  for (const entry of ES_MODULE_ENTRIES) {
    input[entry] = `${sourcePath("index")}?${entry}`;
    for (const name of NAMESPACES) input[`${entry}-${name}`] = `${sourcePath(`${name}/index`)}?${entry}`;
  }
  await bundle({ input, plugins: [machinesPlugin("inline")] }, { dir: join(DIST, "esm"), format: "esm" });
}

/**
 * Builds the CommonJS files: one for each entry point without a backend, one that wraps all ID formats in a function
 * whose parameter contains the backends, and one for each entry point with a backend, which passes its backends to that
 * function.
 */
async function bundleCommonJs() {
  const output = { dir: join(DIST, "cjs"), format: "cjs", ...FAMILIES_WRAPPER };
  const entries = Object.fromEntries(COMMONJS_ENTRIES.map((entry) => [entry, `entry?${entry}`]));
  const plain = {
    ...PLAIN_ENTRIES,
    "drizzle-columns": "integrations/drizzle-columns",
    "lease-cloudflare": CLOUDFLARE_SOURCE,
  };
  const input = { ...sourcePaths(plain), families: `${sourcePath("index")}?common`, ...entries };
  const files = await bundle(
    { input, plugins: [commonPlugin(), machinesPlugin("required"), builtInsPlugin()] },
    output,
  );
  files
    .filter((file) => file.isEntry && !isFamiliesChunk(file) && file.code.length > MAX_ENTRY_LENGTH)
    .forEach(splitEntry);
}

/**
 * The number of characters above which a CommonJS entry point is split. When an ES module imports a CommonJS file, Node
 * searches the file for the names of its exports with a scanner written in plain JavaScript. Scanning 18 KB took 30 ms.
 */
const MAX_ENTRY_LENGTH = 1 << 14;

/**
 * Splits a CommonJS entry point into two files: a short file with the names of the exports, which Node scans for names,
 * and a file with the remaining code, which Node only executes.
 */
function splitEntry({ fileName, code, exports }) {
  const rest = fileName.replace(".js", "-rest.js");
  writeFileSync(join(DIST, "cjs", rest), code);
  writeNamedExports(fileName, `require("./${rest}")`, exports, ES_MODULE_MARKER);
}

/**
 * The code that marks a file as a converted ES module. It uses `Reflect`, because Node's scanner would mistake a name
 * in a call to `Object.defineProperty` for an export.
 */
const ES_MODULE_MARKER = 'Reflect.defineProperty(exports, "__esModule", { value: true });\n';

const sourcePaths = (parts) =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, sourcePath(part)]));

async function bundle({ input, plugins }, output) {
  const bundled = await rolldown({
    input,
    plugins: [...plugins, rulesPlugin(output.format)],
    platform: "neutral",
    external: /^(node:|drizzle-orm)/,
    treeshake: { moduleSideEffects: false },
    transform: {
      target: "es2022",
      define: { VERSION: JSON.stringify(version), PLATFORMS: JSON.stringify(PLATFORM_NAMES) },
    },
  });
  const { output: files } = await bundled.write({
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
    comments: { annotation: true, jsdoc: false, legal: false },
    codeSplitting: { groups: SHARED_MODULES },
    ...output,
  });
  await bundled.close();
  return files;
}

/**
 * Returns whether a module is one of the given source files. An entry point's own copy of a source file does not count.
 */
const isSourceMatch = (id, files) => !id.includes("?") && files.test(relative(SOURCES, id));

/**
 * The groups of files that entry points share. Programs that only read IDs load only the `readers` group, and browsers
 * never load the files that only Node's backends import.
 */
const SHARED_MODULES = [
  ["readers", /^((errors|codes|decode\/.*)\.ts|.*rolldown\/runtime.js)$/],
  ["shared", /^(?!\.\.|#|lease\/|integrations\/|json|decode\.ts|machines\/(addon|choice|native))/],
  ["addon", /^machines\/(addon|choice|native)\.ts$/],
  ["schemas", /^integrations\/(schema|standard|columns)\.ts$/],
].map(([name, files]) => ({ name, test: (id) => isSourceMatch(id, files) }));

/** Returns whether a source file imports a backend, directly or indirectly, and therefore belongs to one entry point. */
function importsBackend(path, seen = new Set()) {
  if (seen.has(path)) return false;
  seen.add(path);
  const specifiers = readFileSync(path, "utf8").matchAll(/^(?:import|export) (?!type )[^;]*? from "([.#][^"]*)";/gm);
  return [...specifiers].some(
    ([, to]) => /^#(machine|backend)/.test(to) || importsBackend(resolveSource(path, to), seen),
  );
}

const resolveSource = (path, specifier) => join(dirname(path), specifier).replace(/\.js$/, ".ts");

/**
 * A plugin that gives each entry point separate copies of some files. A file that imports the entry point's backend,
 * directly or indirectly, is copied as `PATH?ENTRY`. A file that loads the wasm module of an ID format is copied as
 * `PATH?ENTRY/FAMILY`.
 */
function machinesPlugin(inline) {
  const isShared = ["native", "compiled", "choice"];
  const fileOf = (name, owner) => sourcePath(`machines/${name}`) + (isShared.includes(name) ? "" : `?${owner}`);
  const loader = (entry) => (BACKEND_FILES[entry][0] === "inline" ? inline : BACKEND_FILES[entry][0]);
  const external = (id) => ({ id, external: true });
  return {
    name: "machines",
    resolveId(specifier, importer) {
      const [path, owner] = (importer ?? "").split("?");
      if (!owner) return undefined;
      const [entry, family] = owner.split("/");
      if (specifier === "#backend") return fileOf(BACKEND_FILES[entry][1], entry);
      if (specifier.startsWith("#machine/")) return fileOf(loader(entry), `${entry}/${specifier.slice(9)}`);
      const module = family && moduleName(family);
      if (specifier === "#family") return `${gluePath(module)}?${owner}`;
      if (specifier === "#family-base64") return external(`./${module}-base64.js`);
      if (specifier.startsWith("#family")) return external(specifier.replace("#family", `./${module}`));
      if (!specifier.startsWith(".")) return undefined;
      if (family && !path.startsWith(SOURCES)) return `${join(dirname(path), specifier)}?${owner}`;
      const [name] = NAMESPACES.filter((name) => path === sourcePath("index") && specifier === `./${name}/index.js`);
      if (name && entry !== "common") return external(`./${entry}-${name}.js`);
      const file = resolveSource(path, specifier);
      if (family && specifier === "./inline.js") return fileOf(inline, owner);
      // In CommonJS, a call within a file is faster than a call to a function in another file.
      const isOwn =
        entry === "common" ? isSourceMatch(file, /^(?!errors|codes|decode|integrations)/) : importsBackend(file);
      return isOwn ? `${file}?${entry}` : file;
    },
    load(id) {
      const [path, owner] = id.split("?");
      if (!owner) return undefined;
      const code = readFileSync(path, "utf8").replace(/"[^"]*#family.wasm"(?=[,)])/g, (literal) =>
        literal.replace("#family", moduleName(owner.split("/")[1])),
      );
      return { code, moduleType: path.endsWith(".ts") ? "ts" : "js" };
    },
  };
}

/** A plugin that embeds the lease rules in the script. In Workers, the script imports the rules instead. */
function rulesPlugin(format) {
  const name = "#lease-base64";
  return {
    name: "rules",
    resolveId(specifier) {
      if (specifier === "#rules") return sourcePath(`lease/${format === "cjs" ? "compiled" : "imported"}`);
      if (specifier === "#lease.wasm") return { id: "./lease.wasm", external: true };
      return specifier === name ? name : undefined;
    },
    load: (id) =>
      id === name ? `export const base64 = "${readFileSync(RULES_WASM_PATH).toString("base64")}";` : undefined,
  };
}

/**
 * A plugin for CommonJS. It creates one file that wraps all ID formats in a function with the backends as a parameter,
 * and the entry points that call this function.
 */
function commonPlugin() {
  return {
    name: "common",
    resolveId(specifier, importer = "") {
      if (specifier.startsWith("entry?")) return specifier;
      if (specifier === "./families.js") return { id: specifier, external: true };
      return importer.endsWith("?common") && specifier.startsWith("#") ? `parameter?${specifier}` : undefined;
    },
    load(id) {
      const [kind, name] = id.split("?");
      if (kind === "parameter") return createParameterModule(name.split("/")[1]);
      return kind === "entry" ? COMMONJS_ENTRY_SOURCE : undefined;
    },
  };
}

/**
 * A plugin for CommonJS that loads Node's built-in modules with `process.getBuiltinModule` if it is available (Node
 * 20.16 or later). A bundler may turn the package into part of an ES module, in which `require` does not exist.
 */
function builtInsPlugin() {
  const load = (call, name) => `(globalThis.process?.getBuiltinModule?.(${name}) ?? ${call})`;
  return { name: "built-ins", renderChunk: (code) => code.replace(/\brequire\(("node:\w+")\)/g, load) };
}

/**
 * Returns a module that replaces the module of a backend. It reads the backend from the parameter of the function that
 * wraps all ID formats.
 */
function createParameterModule(family) {
  const names = family ? ["load", "init"] : ["backend", "clockSource"];
  return names.map((name) => `export const ${name} = machines.${family ?? "kind"}.${name};`).join("\n");
}

/**
 * A CommonJS entry point. Namespaces become plain objects, because a bundler would create getters that V8 does not
 * inline: all of these getters share the code of one closure and differ only in their key.
 */
const COMMONJS_ENTRY_SOURCE = [
  'import { families } from "./families.js";',
  'import * as kind from "#backend";',
  ...NAMESPACES.map((name) => `import * as machine_${name} from "#machine/${name}";`),
  `const made = families({ kind, ${NAMESPACES.map((name) => `${name}: machine_${name}`).join(", ")} });`,
  "export const { afterRestore, backend, clockSource, PolyflakeError, watchRestores } = made;",
  ...NAMESPACES.map(
    (name) => `const namespace_${name} = { ...made.${name} };\nexport { namespace_${name} as ${name} };`,
  ),
].join("\n");

const isFamiliesChunk = ({ name }) => name === "families";
const FAMILIES_WRAPPER = {
  // The parentheses make engines compile the function immediately, instead of parsing it twice.
  banner: (chunk) =>
    isFamiliesChunk(chunk) ? "module.exports.families = (function (machines) {\nconst exports = {};" : "",
  footer: (chunk) => (isFamiliesChunk(chunk) ? "return exports;\n});" : PLAIN_EXPORTS),
};

/** Makes exports plain values instead of getters, for the same reason as in `COMMONJS_ENTRY_SOURCE`. */
const PLAIN_EXPORTS = 'module.exports = Object.defineProperty({ ...module.exports }, "__esModule", { value: true });';

/**
 * Writes the type declarations: one file for each entry point and one for each ID format. The files are in the same
 * folder as the CommonJS files, which Node loads. ES modules have one-line files that export the same types, because a
 * second copy of a class would be a different type.
 */
async function writeTypes() {
  rmSync(TYPES_FOLDER, { recursive: true, force: true });
  run(process.execPath, join(PACKAGE, "node_modules/typescript/bin/tsc"), "--project", join(PACKAGE, "tsconfig.json"));
  const familyOf = (path) => NAMESPACES.find((name) => path.startsWith(join(TYPES_FOLDER, name, "/")));
  const input = Object.fromEntries(
    Object.entries(TYPES_ENTRIES).map(([name, part]) => [name, join(TYPES_FOLDER, `${part}.d.ts`)]),
  );
  const entries = Object.values(input);
  const types = await rolldown({
    input,
    plugins: [dts({ dtsInput: true })],
    external: [/^[^./]/],
  });
  await types.write({
    dir: join(DIST, "cjs"),
    entryFileNames: "[name].d.ts",
    chunkFileNames: "types-[name].d.ts",
    // A file is bundled with its dependencies, unless an earlier group already contains them. Users who import no
    // third-party integration must not need that integration's types.
    codeSplitting: {
      groups: [
        {
          name: "shared",
          test: (path) =>
            !entries.includes(path) && !familyOf(path) && !/ from "[^."]/.test(readFileSync(path, "utf8")),
        },
        ...NAMESPACES.map((name) => ({ name, test: (path) => familyOf(path) === name })),
      ],
    },
  });
  await types.close();
  // The bundler also emits a file for its runtime helper, which type declarations do not use.
  rmSync(join(DIST, "cjs/types-rolldown-runtime.d.ts"));
  for (const name of ["index", "public", "lease-cloudflare", ...Object.keys(PLAIN_ENTRIES)])
    writeFileSync(join(DIST, `esm/${name}.d.ts`), `export * from "../cjs/${name}.js";\n`);
  // Third-party classes have different types in ES modules and in CommonJS.
  const drizzle = readFileSync(join(DIST, "cjs/drizzle.d.ts"), "utf8");
  writeFileSync(join(DIST, "esm/drizzle.d.ts"), drizzle.replaceAll('from "./', 'from "../cjs/'));
  writeFileSync(join(DIST, "esm/address.d.ts"), ADDRESS_TYPES);
}
