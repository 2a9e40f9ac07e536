/** The wasm modules and their glue: one for each family, so that nobody downloads what is not used. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addTarget, cargo, PACKAGE, run, targetDirectory, wasmBindgen } from "./tools.mjs";

const TARGET = "wasm32-unknown-unknown";
/** Every runtime of today has instructions for 128 bits at once. */
const FLAGS = ["-Ctarget-feature=+simd128"];
const OUT = join(PACKAGE, "build/out");

/**
 * The families, by the names of bindings-wasm's features, each with what it is optimized for. Functions with one caller stay
 * functions in the layouts' module: 2 % more code, which compresses to 2 % less.
 */
const PROFILES = {
  sno: ["wasm", "-O3"],
  randflake: ["wasm", "-O3"],
  hotguid: ["wasm", "-O3"],
  layout: ["wasm-small", "-Oz", "--one-caller-inline-max-function-size=20"],
};

export const FAMILIES = Object.keys(PROFILES);

/** A family's module as it ships. */
export const moduleOf = (family) => join(OUT, `${family}.wasm`);
/** What a module of it needs of JavaScript. */
export const glueOf = (family) => join(OUT, family, "glue.js");

/** Builds them. One run serves all runtimes: the entry points differ only in where they have the compiled module from. */
export function buildWasm() {
  addTarget(TARGET);
  rmSync(OUT, { recursive: true, force: true });
  FAMILIES.forEach(buildFamily);
}

function buildFamily(family) {
  const [profile, passes, ...options] = PROFILES[family];
  const features = ["--no-default-features", "--features", `bare,${family}`];
  const target = ["--target", TARGET, "--profile", profile];
  cargo(FLAGS, "build", "--package", "polyflake-wasm", ...target, ...features);
  const built = join(targetDirectory(), TARGET, `${profile}/polyflake_wasm.wasm`);
  run(wasmBindgen(), "--target", "bundler", "--no-typescript", "--out-dir", join(OUT, family), built);
  const optimize = join(PACKAGE, "node_modules/binaryen/bin/wasm-opt");
  const bound = join(OUT, family, "polyflake_wasm_bg.wasm");
  // What values can be at all, asked between two rounds, makes a module up to 1.5 % smaller.
  const rounds = [passes, "--gufa-optimizing", passes, ...options];
  const strip = ["debug", "producers", "target-features"].map((what) => `--strip-${what}`);
  run(process.execPath, optimize, ...rounds, "--enable-simd", ...strip, bound, "-o", moduleOf(family));
  writeFileSync(glueOf(family), glueFor(moduleOf(family)));
}

/**
 * The functions that a module imports, by the names that wasm-bindgen gave them, as one object, so that bundlers leave out those of
 * families that are not used. wasm-bindgen's own code around them is not taken: it tells modules by their class, and those of edge
 * runtimes are of another realm.
 */
function glueFor(module) {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(module)));
  const files = [...new Set(imports.map(({ module }) => module))];
  const listOf = (file) => `{ ${imports.filter(({ module }) => module === file).map(({ name }) => name).join(", ")} }`;
  return [
    ...files.map((file) => `import ${listOf(file)} from "${file}";`),
    `import { keep, lend } from "${files.find((file) => file.startsWith("./snippets/"))}";`,
    'import { __wbg_set_wasm as begin } from "./polyflake_wasm_bg.js";',
    `const imports = () => ({ ${files.map((file) => `"${file}": ${listOf(file)}`).join(", ")} });`,
    "export const glue = { imports, begin, keep, lend };\n",
  ].join("\n");
}
