// Checks that the package exports exactly the names in packages/api.toml.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import * as decode from "polyflake/decode";
import * as json from "polyflake/json";
import * as leases from "polyflake/lease";
import * as schema from "polyflake/schema";
import { parse } from "smol-toml";
import { namesOf } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";

const api = parse(readFileSync(new URL("../../api.toml", import.meta.url), "utf8"));
const camelCase = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()).replace(/_(\d)/, "$1");
const isForJs = (entry) => entry.in === undefined || entry.in.includes("js");
const hasForJs = (entries = {}) => Object.values(entries).some(isForJs);
const FAMILIES = Object.keys(api).filter((name) => hasForJs(api[name].functions) || hasForJs(api[name].classes));
const ownExports = (entries = {}) =>
  Object.keys(entries)
    .filter((name) => isForJs(entries[name]))
    .map(camelCase)
    .sort();

const isPlain = (object) => Object.getPrototypeOf(object) === Object.prototype;

/** Returns the public names of a class and its instances, including those of its base classes. */
function publicMembers(instance) {
  const standard = ["length", "prototype", "constructor", "at", "toJSON", "toString", "kind"];
  if (isPlain(instance)) return Object.keys(instance).sort();
  const objects = [instance.constructor];
  for (let object = instance; object !== Object.prototype; object = Object.getPrototypeOf(object)) objects.push(object);
  const ownPropertyNames = (object) =>
    Object.getOwnPropertyNames(object).filter((name) => object !== instance.constructor || name !== "name");
  const names = new Set(objects.flatMap(ownPropertyNames));
  return [...names].filter((name) => !standard.includes(name)).sort();
}

/** Returns an instance of each class that has members, and a plain object for each interface. */
function samples({ hotguid, layout, public: { Keyring }, randflake, sno, sparx64, uuid7 }) {
  const grant = new randflake.Grant(1, 1_730_000_000, 1_730_000_001);
  const secret = new Uint8Array(16);
  return {
    sno: {
      Generator: new sno.Generator(),
      SnoArray: new sno.SnoArray(new Uint8Array(0)),
    },
    randflake: {
      Grant: grant,
      Parts: new randflake.Codec(secret).inspect(0n),
      Codec: new randflake.Codec(secret),
      Generator: new randflake.Generator(grant, secret),
      RandflakeArray: new randflake.RandflakeArray(new BigInt64Array(0)),
    },
    hotguid: {
      Parts: hotguid.parts(hotguid.generate()),
      Uuid8Parts: hotguid.uuid8Parts(new hotguid.Generator({ uuid8: true }).generate()),
      Generator: new hotguid.Generator(),
      HotGuidArray: new hotguid.HotGuidArray(new Uint8Array(0)),
    },
    uuid7: {
      Parts: uuid7.parts(uuid7.generate()),
      Generator: new uuid7.Generator(),
      Uuid7Array: new uuid7.Uuid7Array(new Uint8Array(0)),
    },
    layout: {
      Layout: layout.Layout.preset("discord"),
      Parsed: layout.Layout.preset("discord").parse(0n),
      Generator: new layout.Generator(layout.Layout.preset("discord")),
      LayoutArray: new layout.LayoutArray(new BigInt64Array(0)),
      Stats: new layout.Generator(layout.Layout.preset("discord")).stats(),
    },
    sparx64: { Sparx64: new sparx64.Sparx64(secret) },
    public: { Keyring: new Keyring(new Uint8Array(32)), IdType: new Keyring(new Uint8Array(32)).of("order") },
  };
}

/** Returns functions that create a generator with the given options. */
const generatorFactories = ({ hotguid, layout, randflake, sno, uuid7 }) => ({
  sno: (options) => new sno.Generator(options),
  hotguid: (options) => new hotguid.Generator(options),
  uuid7: (options) => new uuid7.Generator(options),
  layout: ({ layout: its = layout.Layout.preset("discord"), ...options }) => new layout.Generator(its, options),
  randflake: (options) => {
    const {
      grant = new randflake.Grant(1, 1_730_000_000, 1_730_000_001),
      secret = new Uint8Array(16),
      ...others
    } = options;
    return new randflake.Generator(grant, secret, others);
  },
});

/** Options in api.toml that are positional parameters in JavaScript. */
const POSITIONAL_PARAMETERS = ["layout", "grant", "secret"];

onEachMachine((polyflake) => {
  test("the package exports exactly the names that api.toml lists", () => {
    assert.deepEqual(namesOf(polyflake), ["PolyflakeError", ...ownExports(api.package), ...FAMILIES].sort());
  });

  for (const family of FAMILIES) {
    const { functions, objects, classes = {} } = api[family];
    const module = polyflake[family];
    const withMembers = Object.keys(classes).filter(
      (name) => isForJs(classes[name]) && hasForJs(classes[name].members),
    );
    const sample = samples(polyflake)[family];

    test(`${family}: the module has the listed functions and classes`, () => {
      assert.deepEqual(Object.keys(sample).sort(), withMembers.sort());
      const values = withMembers.filter((name) => !isPlain(sample[name]));
      assert.deepEqual(
        namesOf(module),
        [...ownExports(functions), ...ownExports(objects), ...values, ...api.web.names].sort(),
      );
      for (const name of ownExports(functions)) assert.equal(typeof module[name], "function", name);
      for (const name of ownExports(objects)) assert.equal(typeof module[name], "object", name);
    });

    test(`${family}: classes have the listed members`, () => {
      for (const name of withMembers)
        assert.deepEqual(publicMembers(sample[name]), ownExports(classes[name].members), name);
    });

    const options = ownExports(classes.Generator?.options);
    if (options.length === 0) continue;

    test(`${family}: only the listed options are accepted`, () => {
      const make = generatorFactories(polyflake)[family];
      make(Object.fromEntries(options.map((name) => [name, undefined])));
      assert.throws(
        () => make({ other: 1 }),
        (error) => {
          assert.equal(error.code, "unknown_field");
          const named = error.message.match(/^unknown field `other`, expected one of `(.*)`$/)[1].split("`, `");
          assert.deepEqual(
            [...named, ...POSITIONAL_PARAMETERS.filter((name) => options.includes(name))].sort(),
            options,
          );
          return true;
        },
      );
    });
  }

  test("stalls and descriptions have the listed members", () => {
    const stalls = [];
    const clock = () => 1_767_225_600_000;
    const ids = new polyflake.sno.Generator({
      sequenceMax: 40_000,
      testClock: clock,
      maxWait: 1,
      onStall: (stall) => stalls.push(stall),
    });
    assert.throws(() => ids.generateMany(40_002));
    assert.deepEqual(Object.keys(stalls[0]).sort(), ownExports(api.stall.members));
    const description = polyflake.sno.describe();
    assert.deepEqual(Object.keys(description).sort(), ownExports(api.description.members));
    assert.deepEqual(Object.keys(description.fields[0]).sort(), ownExports(api.field_description.members));
  });

  test("errors have the listed members", () => {
    const details = { position: 1, field: "f", retryAt: 2, written: 3, item: 4 };
    const error = new polyflake.PolyflakeError("clock_behind", "late", details);
    assert.deepEqual(Object.keys(error).sort(), ownExports(api.error.members));
  });
});

test("the error codes match api.toml", () => {
  const declared = readFileSync(new URL("../src/codes.ts", import.meta.url), "utf8");
  const union = /export type ErrorCode =([^;]*);/.exec(declared)[1];
  assert.deepEqual(union.match(/\w+/g), [
    ...Object.keys(api.errors).filter((code) => isForJs(api.errors[code])),
    ...Object.keys(api.lease.errors),
  ]);
});

test("decode has the functions that api.toml lists for each format", () => {
  const { hotguid, PolyflakeError, randflake, uuid7, ...others } = decode;
  const { snowflakes } = api.decode;
  const isSnowflake = (name) => snowflakes.map(camelCase).includes(name);
  assert.equal(Object.keys(others).filter(isSnowflake).length, snowflakes.length);
  const sno = Object.fromEntries(Object.entries(others).filter(([name]) => !isSnowflake(name)));
  assert.equal(typeof PolyflakeError, "function");
  for (const [family, functions] of Object.entries({ sno, hotguid, randflake, uuid7 })) {
    const listed = api.decode[family].map(camelCase);
    assert.deepEqual(namesOf(functions), listed.sort(), family);
    for (const name of listed) assert(ownExports(api[family].functions).includes(name), name);
  }
});

test("polyflake and decode export the ID types that api.toml lists", () => {
  for (const entry of ["index", "decode"]) {
    const declared = readFileSync(new URL(`../dist/cjs/${entry}.d.ts`, import.meta.url), "utf8");
    const exported = [...declared.matchAll(/^export (?:type )?\{(.*?)\}/gms)].flatMap(([, names]) =>
      names.match(/\w+/g),
    );
    assert.deepEqual(exported.filter((name) => /^[A-Z]\w*(Id|Text)$/.test(name)).sort(), api.types.names, entry);
  }
});

test("polyflake/json has the names that api.toml lists", () => {
  assert.deepEqual(namesOf(json), ["PolyflakeError", ...api.json.names.map(camelCase)].sort());
});

test("polyflake/schema has the names that api.toml lists", () => {
  assert.deepEqual(namesOf(schema), ["PolyflakeError", ...api.schema.names].sort());
});

test("polyflake/lease has the names that api.toml lists, with import and require", () => {
  for (const module of [leases, createRequire(import.meta.url)("polyflake/lease")])
    assert.deepEqual(namesOf(module), ["PolyflakeError", ...api.leases.names].sort());
});

for (const [name, names] of Object.entries(api.libraries))
  test(`polyflake/${name} has the names that api.toml lists`, async () => {
    const module = await import(`polyflake/${name}`);
    assert.deepEqual(namesOf(module), ["PolyflakeError", ...names.map(camelCase)].sort());
  });
