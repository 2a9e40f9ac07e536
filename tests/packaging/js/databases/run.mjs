// Runs the tests with a PostgreSQL server, and checks the types.
import { readdirSync, writeFileSync } from "node:fs";
import { recipe } from "./recipes.mjs";
import { checkTypes, runNode, withPostgres } from "./server.mjs";

const tests = readdirSync(".").filter((file) => file.endsWith(".test.mjs"));
withPostgres((folder) => runNode(folder, "--test", ...tests));
writeFileSync("drizzle.ts", recipe("integrations/drizzle.md", "drizzle-orm"));
writeFileSync("kysely.ts", `${recipe("integrations/others.md", "kysely")}\nexport { type Database, between };\n`);
checkTypes("types.json");
checkTypes("bundler.json");
