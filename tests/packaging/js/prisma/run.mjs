// Generates the clients, runs the tests with a PostgreSQL server, and checks the types.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { checkTypes, runNode, withPostgres } from "./server.mjs";

/**
 * Prevents Prisma from downloading the schema engine, which is not needed here. Prisma accepts any existing path for
 * it.
 */
const NO_ENGINE = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" };

for (const database of ["postgresql", "sqlite"])
  execFileSync(process.execPath, ["node_modules/prisma/build/index.js", "generate"], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...NO_ENGINE, SCHEMA: `${database}.prisma` },
  });
// The generated clients are TypeScript, which the oldest supported Node cannot run.
const esbuild = join(process.env.POLYFLAKE_REPOSITORY, "tests/node_modules/esbuild/bin/esbuild");
const options = ["--bundle", "--packages=external", "--platform=node", "--format=esm", "--outfile=use.test.mjs"];
execFileSync(esbuild, ["use.test.ts", ...options, "--log-level=warning"], { stdio: "inherit" });
withPostgres((folder) => runNode(folder, "--test", "use.test.mjs"));
checkTypes("types.json");
