// packages/api.toml against what is exported, both ways.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as decode from "polyflake/decode";
import { parse } from "smol-toml";
import { onEachMachine } from "./machines.mjs";

const api = parse(readFileSync(new URL("../../api.toml", import.meta.url), "utf8"));
const camelCase = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const isOurs = (entry) => entry.in === undefined || entry.in.includes("js");
const hasOurs = (entries = {}) => Object.values(entries).some(isOurs);
const FAMILIES = Object.keys(api).filter((name) => hasOurs(api[name].functions) || hasOurs(api[name].classes));
const ours = (entries = {}) =>
  Object.keys(entries)
    .filter((name) => isOurs(entries[name]))
    .map(camelCase)
    .sort();

/** Names of what is a value in JavaScript: an interface has none. */
function publicMembers(Class, instance) {
  const standard = ["length", "name", "prototype", "constructor", "at"];
  const names = [Class, Class.prototype, instance].flatMap((object) => Object.getOwnPropertyNames(object));
  return [...new Set(names)].filter((name) => !standard.includes(name)).sort();
}

onEachMachine((polyflake) => {
  test("each family of api.toml is a module, and no other", () => {
    assert.deepEqual(Object.keys(polyflake).sort(), ["PolyflakeError", ...FAMILIES].sort());
  });

  for (const family of FAMILIES) {
    const { functions, classes = {} } = api[family];
    const module = polyflake[family];

    test(`${family}: functions and classes`, () => {
      const values = Object.keys(classes).filter((name) => isOurs(classes[name]) && classes[name].members);
      assert.deepEqual(Object.keys(module).sort(), [...ours(functions), ...values].sort());
      for (const name of ours(functions)) assert.equal(typeof module[name], "function", name);
    });
  }

  test("sno: members of the classes", () => {
    const { Generator, SnoArray } = polyflake.sno;
    const { classes } = api.sno;
    assert.deepEqual(publicMembers(Generator, new Generator()), ours(classes.Generator.members));
    assert.deepEqual(publicMembers(SnoArray, new SnoArray(new Uint8Array(0))), ours(classes.SnoArray.members));
  });

  test("sno: each option is taken, and no other", () => {
    const { Generator } = polyflake.sno;
    const options = ours(api.sno.classes.Generator.options);
    new Generator(Object.fromEntries(options.map((name) => [name, undefined])));
    assert.throws(() => new Generator({ other: 1 }), (error) => {
      assert.equal(error.code, "unknown_field");
      assert.deepEqual(error.message.match(/expected one of (.*), found/)[1].split(", ").sort(), options);
      return true;
    });
  });

  test("members of errors", () => {
    const error = new polyflake.PolyflakeError("clock_behind", "late", { position: 1, field: "f", retryAt: 2, written: 3 });
    assert.deepEqual(Object.keys(error).sort(), ours(api.error.members));
  });
});

test("the codes of errors are those of api.toml", () => {
  const declared = readFileSync(new URL("../src/errors.ts", import.meta.url), "utf8");
  const union = /export type ErrorCode =([^;]*);/.exec(declared)[1];
  assert.deepEqual(union.match(/\w+/g), Object.keys(api.errors));
});

test("decode has names of sno's alone", () => {
  const functions = Object.keys(decode).filter((name) => name !== "PolyflakeError");
  assert.deepEqual(functions.sort(), ["isValid", "metabyte"]);
  for (const name of functions) assert(ours(api.sno.functions).includes(name), name);
});
