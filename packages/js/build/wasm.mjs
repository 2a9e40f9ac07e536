/** The wasm module and its glue. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { addTarget, PACKAGE, run, targetDirectory, wasmBindgen } from "./tools.mjs";

const TARGET = "wasm32-unknown-unknown";

/** The folder of the glue, `polyflake_wasm.js`. */
export const GLUE = join(PACKAGE, "build/out");
/** The module as it ships. */
export const MODULE = join(GLUE, "polyflake.wasm");

/**
 * Builds both. One run serves all runtimes: the glue for the web takes a compiled module or bytes, and the entry points
 * differ only in where they have it from.
 */
export function buildWasm() {
  addTarget(TARGET);
  run("cargo", "build", "--package", "polyflake-wasm", "--target", TARGET, "--profile", "wasm");
  const built = join(targetDirectory(), TARGET, "wasm/polyflake_wasm.wasm");
  mkdirSync(GLUE, { recursive: true });
  run(wasmBindgen(), "--target", "web", "--no-typescript", "--out-dir", GLUE, built);
  const optimize = join(PACKAGE, "node_modules/binaryen/bin/wasm-opt");
  run(process.execPath, optimize, "-O3", "--strip-debug", "--strip-producers", join(GLUE, "polyflake_wasm_bg.wasm"), "-o", MODULE);
}
