// Runs the tests, with a PostgreSQL server for them, and checks the types.
import { readdirSync, writeFileSync } from "node:fs";
import { recipe } from "./recipes.mjs";
import { checkTypes, node, withPostgres } from "./server.mjs";

const tests = readdirSync(".").filter((file) => file.endsWith(".test.mjs"));
withPostgres((folder) => node(folder, "--test", ...tests));
node(undefined, "readme.mjs", "polyflake/drizzle");
writeFileSync("kysely.ts", `${recipe("databases.md", "kysely")}\nexport { type Database, between };\n`);
checkTypes("types.json");
checkTypes("bundler.json");
