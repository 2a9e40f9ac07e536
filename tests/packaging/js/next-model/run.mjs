// Runs the project in examples/next as its users would: creates its tables, checks its types, serves it and sends
// requests. With `--build`, builds and serves it as in production, which takes longer.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { checkTypes, runNode, withPostgres } from "./server.mjs";

const repository = process.env.POLYFLAKE_REPOSITORY;
const readManifest = (folder) => JSON.parse(readFileSync(join(repository, folder, "package.json"), "utf8"));
const { dependencies, devDependencies } = readManifest("tests/packaging/js/next-model");
const exampleManifest = readManifest("examples/next");
assert.deepEqual(exampleManifest.dependencies, { ...dependencies, polyflake: readManifest("packages/js").version });
assert.deepEqual(exampleManifest.devDependencies, devDependencies);

const exampleFolder = join(repository, "examples/next");
const files = readdirSync(exampleFolder, { recursive: true }).filter((file) => /\.tsx?$/.test(file));
const lines = files.flatMap((file) => readFileSync(join(exampleFolder, file), "utf8").trimEnd().split("\n"));
assert(files.length > 5 && lines.length < 100, `${lines.length} lines`);

// Skip the example's package.json, so that the tested versions of the dependencies are used.
cpSync(exampleFolder, ".", { recursive: true, filter: (path) => basename(path) !== "package.json" });
withPostgres((folder) => {
  if (!folder) return;
  process.env.DATABASE_URL = `postgresql://test@localhost/postgres?host=${folder}`;
  const quiet = { stdio: ["ignore", "ignore", "inherit"] };
  const run = (program, ...options) => execFileSync(process.execPath, [`node_modules/${program}`, ...options], quiet);
  run("drizzle-kit/bin.cjs", "push");
  const isBuilt = process.argv.includes("--build");
  if (isBuilt) run("next/dist/bin/next", "build");
  runNode(folder, "use.mjs", isBuilt ? "start" : "dev");
});
checkTypes("tsconfig.json");
