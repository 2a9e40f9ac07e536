// Runs the given tests against a PostgreSQL server with durable writes.
import { runNode, withPostgres } from "./server.mjs";

withPostgres((folder) => runNode(folder, "--test", ...process.argv.slice(2)), "on");
