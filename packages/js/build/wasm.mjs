/**
 * Builds the wasm modules and their glue: one module for each ID format, so that a page downloads only the formats that
 * it uses.
 *
 * wasm-pack builds one module per crate and writes its own package.json, so the build calls cargo, wasm-bindgen's
 * library (`tools/xtask/wasm`) and wasm-opt itself.
 */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addTarget, cargo, PACKAGE, run, targetDirectory } from "./tools.mjs";

const TARGET = "wasm32-unknown-unknown";
/** The compiler flags. They enable 128-bit SIMD, which all current runtimes support. */
const FLAGS = ["-Ctarget-feature=+simd128"];
const OUT_FOLDER = join(PACKAGE, "build/out");

/**
 * The cargo profile and the wasm-opt options for each ID format. The keys are the names of bindings-wasm's features.
 * The module for layouts is built for size and with hardly any inlining, which makes the module 2 % larger, but 2 %
 * smaller when compressed.
 */
const PROFILES = {
  sno: ["wasm", "-O3"],
  randflake: ["wasm", "-O3"],
  hotguid: ["wasm", "-O3"],
  public: ["wasm", "-O3"],
  uuid7: ["wasm", "-O3"],
  layout: ["wasm-small", "-Oz", "--one-caller-inline-max-function-size=12", "--always-inline-max-function-size=4"],
};

export const FAMILIES = Object.keys(PROFILES);

/** Returns the path of a format's module, as it is shipped. */
export const modulePath = (family) => join(OUT_FOLDER, `${family}.wasm`);
/** Returns the path of the JavaScript that a format's module imports. */
export const gluePath = (family) => join(OUT_FOLDER, family, "glue.js");

/**
 * Builds all modules. The same modules serve all runtimes: entry points differ only in how they load the compiled
 * module.
 */
export function buildWasm(dev) {
  addTarget(TARGET);
  rmSync(OUT_FOLDER, { recursive: true, force: true });
  for (const family of FAMILIES) buildFamily(family, dev);
  buildRules(dev);
}

/** The path of the module with the lease rules. */
export const RULES_WASM_PATH = join(OUT_FOLDER, "lease.wasm");

/**
 * Builds the module with the lease rules. The module has no imports. It is optimized for size, because it runs only a
 * few times per hour.
 */
function buildRules(dev) {
  const profile = dev ? "quick" : "wasm-small";
  cargo(FLAGS, "build", "--package", "polyflake-lease-wasm", "--target", TARGET, "--profile", profile);
  const builtModule = join(targetDirectory(), TARGET, `${profile}/polyflake_lease_wasm.wasm`);
  if (dev) copyFileSync(builtModule, RULES_WASM_PATH);
  else optimize(builtModule, RULES_WASM_PATH, "-Oz");
}

/**
 * Builds a format's module. With `dev`, the build skips wasm-opt and is therefore faster, but the module is larger and
 * slower.
 */
function buildFamily(family, dev) {
  const [shipped, ...optimization] = PROFILES[family];
  const profile = dev ? "quick" : shipped;
  const features = ["--no-default-features", "--features", `bare,${family}`];
  const target = ["--target", TARGET, "--profile", profile];
  cargo(FLAGS, "build", "--package", "polyflake-wasm", ...target, ...features);
  const builtModule = join(targetDirectory(), TARGET, `${profile}/polyflake_wasm.wasm`);
  run("cargo", "run", "--quiet", "--package", "xtask-wasm", "--", builtModule, join(OUT_FOLDER, family));
  const bound = join(OUT_FOLDER, family, "polyflake_wasm_bg.wasm");
  if (dev) copyFileSync(bound, modulePath(family));
  else optimize(bound, modulePath(family), ...optimization);
  writeFileSync(gluePath(family), generateGlue(modulePath(family)));
}

function optimize(bound, out, passes, ...options) {
  const program = join(PACKAGE, "node_modules/binaryen/bin/wasm-opt");
  // Running possible-contents analysis (GUFA) between two rounds makes a module up to 1.5% smaller.
  // `--low-memory-unused` is safe, because the first KB of memory contains only the end of the stack and no data, so an
  // address plus an offset does not wrap around.
  const rounds = [passes, "--gufa-optimizing", passes, "--low-memory-unused", ...options];
  const strip = ["debug", "producers", "target-features"].map((what) => `--strip-${what}`);
  run(process.execPath, program, ...rounds, "--enable-simd", ...strip, bound, "-o", out);
}

/**
 * Generates code that collects the functions that a module imports into one object, under the names that wasm-bindgen
 * gave them. Bundlers can then remove the functions of unused ID formats. wasm-bindgen's own loader is not used,
 * because it recognizes modules by their class, and modules in edge runtimes come from another realm, in which the
 * class is a different object.
 */
function generateGlue(module) {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(module)));
  const files = [...new Set(imports.map(({ module }) => module))];
  // A module without generators imports nothing from its host.
  const host = files.find((file) => file.startsWith("./snippets/"));
  const listOf = (file) =>
    `{ ${imports
      .filter(({ module }) => module === file)
      .map(({ name }) => name)
      .join(", ")} }`;
  return [
    ...files.map((file) => `import ${listOf(file)} from "${file}";`),
    host ? `import { keep, lend, now } from "${host}";` : "const [keep, lend, now] = [() => 0, () => {}];",
    'import { __wbg_set_wasm as begin } from "./polyflake_wasm_bg.js";',
    `const imports = () => ({ ${files.map((file) => `"${file}": ${listOf(file)}`).join(", ")} });`,
    "export const glue = { imports, begin, keep, lend, now };\n",
  ].join("\n");
}
