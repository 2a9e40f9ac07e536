/** Builds the TypeScript: one bundle for each entry point and module format, and the types. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { NAMES } from "./platforms.mjs";
import { PACKAGE, run } from "./tools.mjs";
import { FAMILIES, glueOf, moduleOf } from "./wasm.mjs";

const DIST = join(PACKAGE, "dist");
/** Where tsc writes the types of each source. */
const TYPES = join(PACKAGE, "build/out/types");
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

/** The entry points for other people's libraries. */
const INTEGRATIONS = ["drizzle", "express", "hono", "kysely", "prisma", "schema", "typeorm"];

/** The entry points without a machine, and their sources. */
const PLAIN = {
  decode: "decode",
  json: "json",
  ...Object.fromEntries(INTEGRATIONS.map((name) => [name, `integrations/${name}`])),
};

/** The sources of the types that package.json names. */
const TYPED = {
  index: "index",
  ...PLAIN,
  ...Object.fromEntries(NAMESPACES.map((name) => [name, `${name}/index`])),
};

/** Other people's libraries, which users install. */
const LIBRARIES = ["drizzle-orm", "hono", "kysely"];

/**
 * Files that entry points share: the class of errors, and the functions that read IDs without a machine, which are the same whoever
 * exports them; as ES modules also schemas, and what the entry points for other people's libraries have in common.
 */
const READERS = {
  errors: "errors",
  ...Object.fromEntries(
    ["checks", "hotguid", "hotguid-bytes", "randflake", "sno", "sno-bytes", "words"].map((name) => [
      `decode-${name}`,
      `decode/${name}`,
    ]),
  ),
};
const SHARED = {
  cjs: READERS,
  esm: {
    ...READERS,
    schema: PLAIN.schema,
    ...Object.fromEntries(["standard", "forms", "parsers"].map((name) => [name, `integrations/${name}`])),
  },
};

/** Sources of an entry point's separate files, by file name. */
const PARTS = Object.fromEntries([...NAMESPACES.map((name) => [name, `${name}/index`]), ["backend", "backend"]]);

/**
 * The file that stands for a module in base64 where Node imports the package itself: it reads the module at the first call. Bundlers
 * take the other one (`imports` in package.json).
 */
const REQUIRED = [
  'import { createRequire } from "node:module";\nexport const base64 = () => createRequire(import.meta.url)("../cjs/',
  '-base64.js").base64();\n',
];

const source = (name) => join(PACKAGE, `src/${name}.ts`);

/** The type of a wasm module's import, by bundlers that are told to give its address. */
const ADDRESS = "declare const address: string;\nexport default address;\n";

export async function buildScript() {
  rmSync(DIST, { recursive: true, force: true });
  for (const format of ["esm", "cjs"]) await buildFormat(format);
  for (const family of FAMILIES) copyFileSync(moduleOf(family), join(DIST, `esm/${family}.wasm`));
  await writeTypes();
  writeFileSync(join(DIST, "cjs/package.json"), '{ "type": "commonjs" }\n');
  writeFolders();
}

/** Writes a folder for each subpath of the package, for tools that ignore `exports`: TypeScript's node10, Parcel's default. */
function writeFolders() {
  for (const [path, conditions] of Object.entries(exports)) {
    const { import: esm, require: cjs } = conditions.default?.import ? conditions.default : conditions;
    if (path === "." || !cjs) continue;
    const entry = { main: `.${cjs.default}`, module: `.${esm.default}`, types: `.${cjs.types}`, sideEffects: false };
    mkdirSync(join(PACKAGE, path), { recursive: true });
    writeFileSync(join(PACKAGE, path, "package.json"), `${JSON.stringify(entry, undefined, 2)}\n`);
  }
}

async function buildFormat(format) {
  mkdirSync(join(DIST, format), { recursive: true });
  for (const [name, part] of Object.entries({ ...SHARED[format], ...PLAIN }))
    await bundle(format, { [name]: source(part) });
  for (const entry of ENTRIES[format]) {
    if (format === "esm") await bundleNamespaces(entry);
    else await bundle(format, { [entry]: source("index") }, { entry });
  }
  for (const family of FAMILIES) {
    const base64 = readFileSync(moduleOf(family)).toString("base64");
    const left = format === "esm" ? "export const base64" : "exports.base64";
    writeFileSync(join(DIST, format, `${family}-base64.js`), `${left} = () => "${base64}";\n`);
    if (format === "esm") writeFileSync(join(DIST, `esm/${family}-required.js`), REQUIRED.join(`${family}`));
  }
}

/** Bundles an entry point that exports its namespaces, and a file for each of them. */
async function bundleNamespaces(entry) {
  const fileOf = (name) => `${entry}-${name}`;
  const files = Object.entries(PARTS).map(([name, part]) => [fileOf(name), source(part)]);
  const external = Object.entries(PARTS).map(([name, part]) => [`./${part}.js`, `./${fileOf(name)}.js`]);
  await bundle("esm", { [entry]: source("index") }, { external });
  await bundle("esm", Object.fromEntries(files), { entry, shared: fileOf("shared") });
}

/**
 * Writes the types: those of the sources, a file for each entry point and each family. CommonJS has them; ES modules have files that
 * export the same, so that each type is written and compared once.
 */
async function writeTypes() {
  rmSync(TYPES, { recursive: true, force: true });
  run(process.execPath, join(PACKAGE, "node_modules/typescript/bin/tsc"), "--project", join(PACKAGE, "tsconfig.json"));
  const familyOf = (path) => NAMESPACES.find((name) => path.startsWith(join(TYPES, name, "/")));
  const input = Object.fromEntries(Object.entries(TYPED).map(([name, part]) => [name, join(TYPES, `${part}.d.ts`)]));
  const entries = Object.values(input);
  const types = await rolldown({
    input,
    plugins: [withoutAugmentations, dts({ dtsInput: true })],
    external: [/^[^./]/],
  });
  await types.write({
    dir: join(DIST, "cjs"),
    entryFileNames: "[name].d.ts",
    chunkFileNames: "types-[name].d.ts",
    // What a file needs comes along with it, unless a group before has it. Who imports none of other people's libraries must not
    // need their types.
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
  for (const name of Object.keys(TYPED))
    writeFileSync(join(DIST, `esm/${name}.d.ts`), `export * from "../cjs/${name}.js";\n`);
  writeFileSync(join(DIST, "esm/address.d.ts"), ADDRESS);
}

/** Leaves out what a file adds to the types of a module that nobody can import. */
const withoutAugmentations = {
  name: "without-augmentations",
  transform: (text) => text.replace(/^declare module "\.[^"]*" \{\n.*?^\}\n/gms, ""),
};

/**
 * Makes the exports of a CommonJS file plain values. esbuild makes them getters of one function, which no engine inlines: a call of
 * `sno.metabyte` took four times as long.
 */
const PLAIN_EXPORTS = 'module.exports = Object.defineProperty({ ...module.exports }, "__esModule", { value: true });';

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
    footer: format === "cjs" ? { js: PLAIN_EXPORTS } : {},
    external: ["node:*", "*.wasm", "*.wasm?module", "#base64/*", "./*-base64.js", ...LIBRARIES],
    define: {
      VERSION: JSON.stringify(version),
      PLATFORMS: JSON.stringify(NAMES),
    },
    plugins: [...FAMILIES.map((family) => machineOf(format, entry, family)), names(format, entry, external)],
  });
}

/**
 * A plugin for a family's machine in an entry point. It reads the files of `machines` that name `#family` for that family, and so
 * in the family's own namespace. All other files are the same for all families.
 */
function machineOf(format, entry, family) {
  const namespace = `machine-${family}`;
  // One addon has all families.
  const fileOf = (name) =>
    name === "native"
      ? { path: source("machines/native"), sideEffects: false }
      : { path: `src/machines/${name}.ts`, namespace, sideEffects: false };
  const named = {
    "#family": { path: glueOf(family), sideEffects: false },
    "#family-base64": base64Of(format, entry, family),
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
      onLoad({ filter: /./, namespace: "required" }, ({ path }) => ({
        contents: `export const base64 = () => require(${JSON.stringify(path)}).base64();`,
      }));
      onLoad({ filter: /./, namespace }, ({ path }) => {
        const file = join(PACKAGE, path);
        const contents = readFileSync(file, "utf8").replace('new URL("#family', `new URL("./${family}`);
        return { contents, loader: "ts", resolveDir: dirname(file) };
      });
    },
  };
}

/** The file of a module in base64, which Node reads at need alone. */
function base64Of(format, entry, family) {
  const path = `./${family}-base64.js`;
  if (format === "cjs") return { path, namespace: "required", sideEffects: false };
  return { path: entry === "node" ? `#base64/${family}` : path, external: true, sideEffects: false };
}

/**
 * A plugin that replaces the name of the machine's kind (see src/declarations.d.ts), and leaves shared files outside of bundles.
 */
function names(format, entry, external) {
  const outside = new Map(external);
  return {
    name: "names",
    setup({ onResolve }) {
      onResolve({ filter: /^#backend$/ }, () => ({
        path: source(`machines/${MACHINES[entry][1]}`),
        sideEffects: false,
      }));
      onResolve({ filter: /./ }, ({ path, kind, resolveDir }) => {
        const file = kind === "entry-point" ? undefined : (outside.get(path) ?? sharedFile(format, path, resolveDir));
        return file && { path: file, external: true };
      });
    },
  };
}

/** The name of a file that the bundles share; undefined for other files. */
function sharedFile(format, path, folder) {
  const file = join(folder, path).replace(/\.js$/, ".ts");
  const name = Object.keys(SHARED[format]).find((name) => source(SHARED[format][name]) === file);
  return name && `./${name}.js`;
}
