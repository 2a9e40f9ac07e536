// Runs the tests.
import { node } from "./server.mjs";

node(undefined, "--test", "parameters.test.mjs", "public.test.mjs");
