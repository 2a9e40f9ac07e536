// Runs the given tests against a PostgreSQL server with durable writes.
import { node, withPostgres } from "./server.mjs";

withPostgres((folder) => node(folder, "--test", ...process.argv.slice(2)), "on");
