// Runs the tests.
import { runNode } from "./server.mjs";

runNode(undefined, "--test", "parameters.test.mjs", "public.test.mjs");
