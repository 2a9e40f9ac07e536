// Runs tests with both backends.
import { describe } from "node:test";
import * as native from "polyflake/native";
import * as wasm from "polyflake/wasm";

const MACHINES = { native, wasm };

/** Runs a group of tests with the native addon and with the wasm module. */
export function onEachMachine(tests) {
  for (const [name, polyflake] of Object.entries(MACHINES)) describe(name, () => tests(polyflake, name));
}
