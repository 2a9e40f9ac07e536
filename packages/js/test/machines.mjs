// Both machines, for tests that hold for each.
import { describe } from "node:test";
import * as native from "polyflake/native";
import * as wasm from "polyflake/wasm";

const MACHINES = { native, wasm };

/** Runs a group of tests over the native addon and over the wasm module. */
export function onEachMachine(tests) {
  for (const [name, polyflake] of Object.entries(MACHINES)) describe(name, () => tests(polyflake, name));
}
