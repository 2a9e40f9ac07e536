// Runs the tests, and checks the types.
import { checkTypes, node } from "./server.mjs";

node(undefined, "--test", "parameters.test.mjs");
node(undefined, "readme.mjs", "polyflake/express");
checkTypes("types.json");
