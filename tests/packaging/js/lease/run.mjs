// Runs the given tests with a PostgreSQL server that has durable writes.
import { node, withPostgres } from "./server.mjs";

withPostgres((folder) => node(folder, "--test", ...process.argv.slice(2)), "on");
