// Runs the tests, with a PostgreSQL server for them, and checks the types.
import { readdirSync } from "node:fs";
import { checkTypes, node, withPostgres } from "./server.mjs";

const tests = readdirSync(".").filter((file) => file.endsWith(".test.mjs"));
withPostgres((folder) => node(folder, "--test", ...tests));
node(undefined, "readme.mjs", "polyflake/drizzle");
checkTypes("types.json");
