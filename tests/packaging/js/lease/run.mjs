// Runs the tests, with a PostgreSQL server for them, whose writes are durable.
import { node, withPostgres } from "./server.mjs";

withPostgres((folder) => node(folder, "--test", "conformance.test.mjs", "programs.test.mjs", "stores.test.mjs"), "on");
