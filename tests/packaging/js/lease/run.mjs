// Runs the given tests, with a PostgreSQL server for them, whose writes are durable.
import { node, withPostgres } from "./server.mjs";

withPostgres((folder) => node(folder, "--test", ...process.argv.slice(2)), "on");
