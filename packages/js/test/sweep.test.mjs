// Passes every invalid value at every position to every export and method. Each call must return a value, throw a typed
// error, or throw the error that the value itself throws. Afterwards, the package must still work.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import * as native from "polyflake/native";
import * as wasm from "polyflake/wasm";
import { NOW } from "./assertions.mjs";
import {
  ADDED_NAMES,
  detachedBytes,
  ForeignError,
  MisreportingArray,
  NON_BIGINTS,
  NON_INTEGERS,
  NON_NUMBERS,
  nonBytesFor,
  nonTextsFor,
  throwingProxy,
} from "./catalogue.mjs";

const ID = "a7rdmuv326nct5if";
const GUID = "691f29d0-bbaa-ddcc-ee01-0203ffffff7f";
const UUID = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
const SECRET = new Uint8Array(16).fill(7);
const SECRET32 = new Uint8Array(32).fill(7);
const WINDOW = [NOW - 4000, NOW + 4000];
const clock = () => NOW;

const createThrower = (name) => () => {
  throw new ForeignError(name);
};

function resizedArrays() {
  const buffer = new ArrayBuffer(16, { maxByteLength: 32 });
  const bytes = [new Uint8Array(buffer), new Uint8Array(buffer, 8, 8)];
  buffer.resize(12);
  return bytes;
}

/** Returns invalid values for parameters, with several values of almost every type. */
const invalidValues = () => [
  ...[
    undefined,
    -0,
    -1,
    0.5,
    2 ** 31,
    2 ** 32,
    2 ** 53,
    -(2 ** 53),
    1e300,
    2n ** 63n,
    -(2n ** 63n) - 1n,
    2n ** 64n,
    10n ** 400n,
  ],
  ...[...NON_NUMBERS, ...NON_INTEGERS, ...NON_BIGINTS, ...nonTextsFor(ID), ...nonBytesFor(16)],
  ...["\ud800".repeat(16), "x".repeat(2 ** 20), "２".repeat(16), "__proto__", "\0", Object(true), Object(Symbol("s"))],
  ...[
    throwingProxy,
    Proxy.revocable({}, {}).proxy,
    Object.create(null),
    Object.freeze({}),
    { __proto__: null, length: 2 },
    new Map(),
    /x/,
    new Error("e"),
  ],
  ...[
    [[]],
    [NaN],
    [, 1],
    Object.assign([NOW, NOW + 4], { 1: Symbol("s") }),
    class {},
    async () => 1,
    function* () {},
    Promise.resolve(1),
  ],
  ...[
    detachedBytes(),
    new MisreportingArray(10),
    new Uint8Array(0),
    new Uint8Array(7),
    new Uint8Array(16),
    new Uint8Array(new SharedArrayBuffer(16)),
    ...resizedArrays(),
  ],
  ...[
    { valueOf: createThrower("valueOf") },
    { toString: createThrower("toString") },
    { [Symbol.toPrimitive]: createThrower("toPrimitive") },
    { [Symbol.iterator]: createThrower("iterator") },
    { then: createThrower("then") },
  ],
  ...[
    createThrower("called"),
    () => NaN,
    () => Infinity,
    () => -1,
    () => 0.5,
    () => 8.7e15,
    () => 253_402_300_799_999,
    () => NOW - 1e6,
    () => 1n,
    () => "1",
    () => ({}),
    () => Symbol("s"),
  ],
];

/**
 * Yields invalid values in place of a valid argument, followed by copies of the argument in which one property is
 * invalid.
 */
function* invalidCopies(value, depth = 3) {
  yield* invalidValues();
  if (depth === 0 || typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
  if (![Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value))) return;
  for (const name of Object.keys(value)) {
    const copy = () => (Array.isArray(value) ? [...value] : { ...value });
    for (const wrong of invalidCopies(value[name], depth - 1)) yield Object.assign(copy(), { [name]: wrong });
    const without = copy();
    delete without[name];
    yield without;
    yield Object.defineProperty(copy(), name, { get: createThrower("a getter") });
  }
  if (!Array.isArray(value)) yield { ...value, other: 1 };
}

/** Returns the options that generators of all formats share, with additional options for one format. */
const options = (own = {}) => ({
  testClock: clock,
  maxWait: 0,
  onExhausted: "error",
  onStall: () => undefined,
  ...own,
});

const DESCRIPTION = {
  id: "bytes",
  bits: 96,
  fields: [
    { kind: "timestamp", bits: 41, tick: "1ms", epoch_ms: 0 },
    { kind: "constant", bits: 16, name: "c", type: "bytes", value: "0a0b" },
    { kind: "bindable", bits: 16, name: "b", type: "text" },
    { kind: "sequence", bits: 12, start: 0 },
    { kind: "unused", bits: 11 },
  ],
};

/** Returns an object that maps several function or method names to the same arguments. */
const sameArguments = (prefix, values, ...names) => Object.fromEntries(names.map((name) => [prefix + name, values]));

/** Returns valid arguments for a schema's functions, by name. */
function schemaOf(family, id) {
  const standard = `${family}.schema.~standard`;
  const output = family === "randflake" ? {} : { [`${standard}.jsonSchema.output`]: [{ target: "draft-07" }] };
  return { [`${standard}.validate`]: [id], [`${standard}.jsonSchema.input`]: [{ target: "openapi-3.0" }], ...output };
}

/**
 * Returns valid arguments for the functions of a generator or module that generate IDs, by name. `about` contains the
 * ID's parameters.
 */
const generateMethods = (prefix, ...about) => ({
  [`${prefix}generate`]: about,
  [`${prefix}generateMany`]: [3, ...about],
  [`${prefix}generateAsync`]: [...about, { signal: new AbortController().signal }],
  [`${prefix}generateManyAsync`]: [3, ...about, { signal: new AbortController().signal }],
});

/** Returns valid arguments for the methods that all generators have, by name. */
const generatorMethods = (family, ...about) => ({
  ...generateMethods(`${family}.Generator#`, ...about),
  [`${family}.Generator#tryGenerate`]: about,
  [`${family}.Generator#tryGenerateMany`]: [3, ...about],
  ...sameArguments(`${family}.Generator#`, [], "stats", "close"),
  ...(family === "randflake" ? {} : { [`${family}.Generator#extendWindow`]: [NOW + 1000] }),
  [`${family}.init`]: [],
});

/** Returns valid arguments for the constructor and the methods of an array class, by name. */
const arrayOf = (name, packed, ids, ...getters) => ({
  [name]: packed,
  [`${name}.from`]: [ids],
  [`${name}#at`]: [0],
  ...sameArguments(`${name}#`, [], "Symbol(Symbol.iterator)", ...getters),
});

/** Returns valid arguments for every export, by name. A class's arguments are for its constructor. */
function goodArguments({ layout, public: { Keyring }, randflake, sno, uuid7 }) {
  const grant = [[7, 8], 1_730_000_000, 2_803_741_000];
  const discord = layout.Layout.preset("discord", { worker: 1, process: 2 });
  const parts = { tick: 1, tickTock: true, metabyte: 1, partition: 1, sequence: 1 };
  const guid = { timestamp: 1, counter: 1, shardKey: 1 };
  const stop = (family, ...more) => new family.Generator(...more).close();
  const restoredOptions = options({ metabyte: 1, window: WINDOW });
  const values = { timestamp: NOW, sequence: 1, bindables: { b: "b" }, constants: { c: new Uint8Array(2) } };
  return {
    ...sameArguments("", [], "backend", "clockSource", "layout.presets", "sparx64.init"),
    ...sameArguments("", [], "sno.describe", "randflake.describe", "hotguid.describe", "uuid7.describe"),
    ...sameArguments("", [undefined], "sno.setDefaultGenerator", "hotguid.setDefaultGenerator"),
    "uuid7.setDefaultGenerator": [undefined],
    ...schemaOf("sno", ID),
    ...schemaOf("hotguid", GUID),
    ...schemaOf("randflake", "1"),
    ...schemaOf("uuid7", UUID),
    ...generatorMethods("uuid7"),
    ...generateMethods("uuid7."),
    ...sameArguments("uuid7.", [UUID], "parse", "isValid", "parts", "unixMs", "workerId", "toBytes"),
    "uuid7.fromBytes": [uuid7.toBytes(UUID)],
    "uuid7.fromParts": [{ unixMs: 1, sequence: 2, random: 3n }],
    "uuid7.generateAt": [NOW],
    "uuid7.timeRange": [NOW, NOW + 1000],
    ...arrayOf("uuid7.Uuid7Array", [uuid7.generateMany(2).bytes], [UUID, UUID], "texts"),
    ...sameArguments("uuid7.Uuid7Array#", [], "unixMs", "sequences", "workerIds"),
    "uuid7.Generator": [options({ workerId: 1, resumeAfter: NOW - 1, followRollbacks: false, window: WINDOW })],
    ...generatorMethods("sno", 1),
    ...generatorMethods("hotguid", 1),
    ...generatorMethods("randflake"),
    ...generatorMethods("layout", {}),
    ...generateMethods("sno.", 1),
    ...generateMethods("hotguid.", 1),
    "sno.schema.ofMetabyte": [24],
    ...sameArguments("sno.", [ID], "parse", "isValid", "metabyte", "toBytes", "toUuid", "toUuid8"),
    "sno.hasMetabyte": [ID, 1],
    ...sameArguments("sno.", [ID, 1], "withMetabyte", "withPartition", "withSequence"),
    ...sameArguments("sno.", [ID, { nullIsZero: true }], "fromJsonValue", "toJsonValue"),
    "sno.timeRange": [NOW, new Date(NOW + 4)],
    "sno.fromParts": [parts],
    "sno.fromBytes": [new Uint8Array(10)],
    "sno.fromUuid": [sno.toUuid(ID)],
    "sno.fromUuid8": [sno.toUuid8(ID)],
    ...arrayOf("sno.SnoArray", [new Uint8Array(20)], [ID, ID], "texts"),
    ...sameArguments("sno.SnoArray#", [], "unixMs", "metabytes", "partitions", "sequences", "uuid8Column"),
    "sno.SnoArray.fromUuid8": [[sno.toUuid8(ID)]],
    "sno.Generator": [options({ partition: 1, sequenceMin: 0, sequenceMax: 1000, metabyte: 1, window: WINDOW })],
    ...sameArguments("sno.Generator.", [stop(sno, { partition: 1 }), restoredOptions], "restore", "importOriginal"),
    "sno.Generator#generateAt": [NOW, 1],
    ...sameArguments("randflake.", [-1n], "encodeText", "toUnsigned"),
    "randflake.decodeText": ["1uv"],
    "randflake.fromUnsigned": [1n],
    "randflake.Grant": grant,
    "randflake.Codec": [SECRET],
    ...sameArguments("randflake.", [1n], "Codec#inspect", "Generator#inspect"),
    "randflake.Codec#inspectColumns": [BigInt64Array.of(1n)],
    "randflake.Codec#encrypt": [{ timestamp: 1_763_650_000, node: 1, sequence: 1 }],
    ...arrayOf("randflake.RandflakeArray", [new BigInt64Array(2)], ["1uv", "0"], "texts"),
    "randflake.Generator": [new randflake.Grant(...grant), SECRET, options({ resumeAfter: 1_730_000_000 })],
    ...sameArguments("randflake.Generator#", [], "generateText", "tryGenerateText"),
    "randflake.Generator#generateTextAsync": [{ signal: new AbortController().signal }],
    "randflake.Generator#extendGrant": [new randflake.Grant(...grant)],
    ...sameArguments("hotguid.", [GUID], "parse", "isValid", "parts", "shardKey", "timestamp"),
    ...sameArguments("hotguid.", [GUID], "toSql", "fromSql", "toBytes", "toDotnetBytes"),
    ...sameArguments("hotguid.", [new Uint8Array(16)], "fromBytes", "fromDotnetBytes"),
    "hotguid.uuid8Parts": ["691f29d0-0000-8000-8100-000100000001"],
    "hotguid.fromUuid8Parts": [{ ...guid, machine: 1 }],
    "hotguid.fromParts": [{ ...guid, machine: new Uint8Array(5) }],
    "hotguid.timeRange": [NOW, NOW + 1000, { sql: true }],
    ...arrayOf("hotguid.HotGuidArray", [new Uint8Array(32)], [GUID, GUID], "texts"),
    ...sameArguments("hotguid.HotGuidArray#", [], "timestamps", "machines", "counters", "shardKeys"),
    "hotguid.Generator": [options({ uuid8: true, window: WINDOW })],
    "layout.Layout": [DESCRIPTION],
    "layout.Layout.fromJson": [JSON.stringify(DESCRIPTION)],
    "layout.Layout.preset": ["discord", { worker: 1, process: 2 }],
    ...sameArguments("layout.Layout#", [], "toJson", "describe"),
    "layout.Layout#pack": [values],
    "layout.Layout#packColumns": [{ ...values, sequence: new Float64Array(2) }],
    "layout.Layout#parse": [new Uint8Array(12)],
    "layout.Layout#parsedFromJson": [{ ...values, timestamp: undefined, unixMs: `${NOW}`, constants: { c: "0000" } }],
    "layout.Layout#parseColumns": [new Uint8Array(24)],
    "layout.Layout#timeRange": [NOW, NOW + 1, {}],
    ...arrayOf("layout.LayoutArray", [new Uint8Array(24), 12], ["1", "-2"]),
    "layout.Generator": [
      layout.Layout.preset("instagram"),
      options({ range: ["shard", 1, 2], sequenceOnly: false, window: WINDOW }),
    ],
    "layout.Generator.restore": [discord, stop(layout, discord), options({ bindables: {}, window: WINDOW })],
    "sparx64.Sparx64": [SECRET],
    ...sameArguments("sparx64.Sparx64#", [new Uint8Array(8)], "encrypt", "decrypt", "encryptMany", "decryptMany"),
    "public.init": [],
    "public.Keyring": [{ 1: SECRET32, 2: new Uint8Array(32).fill(8) }],
    "public.Keyring#of": ["order", { bits: 48 }],
    "public.IdType": [new Keyring(SECRET32), "order", { bits: 48 }],
    "public.IdType#encode": [42],
    "public.IdType#encodeMany": [[42, 43n]],
    "public.IdType#decode": [new Keyring(SECRET32).of("order").encode(42)],
    "public.IdType#decodeMany": [new Keyring(SECRET32).of("order").encodeMany([42, 43])],
  };
}

const isClass = (value) => /^class\b/.test(Function.prototype.toString.call(value));

/** Methods that JSON.stringify and consoles call. */
const SKIPPED_METHODS = ["constructor", "toJSON", "toString", Symbol.for("nodejs.util.inspect.custom")];

/** Returns the names of the functions of an object and its classes, except built-in functions. */
function functionsOf(object) {
  const names = new Set();
  for (
    let owner = object;
    owner && owner !== Object.prototype && owner !== Function.prototype;
    owner = Object.getPrototypeOf(owner)
  ) {
    for (const name of Reflect.ownKeys(owner)) {
      const value = Reflect.getOwnPropertyDescriptor(owner, name).value;
      if (!SKIPPED_METHODS.includes(name) && typeof value === "function" && !isClass(value)) names.add(name);
    }
  }
  return [...names];
}

/**
 * Returns all functions, methods and constructors of the package, under the same names as in `good`, which contains
 * valid arguments for each of them. Methods are called on instances that were created with valid arguments.
 */
function calls(polyflake, good) {
  const found = {};
  const add = (name, call) => {
    found[name] = call;
  };
  const addClass = (name, Class) => {
    const make = () => new Class(...good[name]);
    add(name, (...values) => new Class(...values));
    for (const own of functionsOf(Class)) add(`${name}.${String(own)}`, (...values) => Class[own](...values));
    for (const own of functionsOf(make())) {
      let instance = make();
      add(`${name}#${String(own)}`, (...values) => {
        if (own === "close") instance = make();
        return instance[own](...values);
      });
    }
  };
  const addModule = (prefix, module) => {
    for (const [name, value] of Object.entries(module)) {
      // Skip four kinds of exports. Error classes accept any arguments, like built-in errors. The JSON Schema of
      // bigints always fails. Node adds names to CommonJS modules. Reporting a restore would make the generators of
      // other calls fail.
      const isSkipped = [...ADDED_NAMES, "afterRestore", "watchRestores"].includes(name);
      if (isSkipped || value.prototype instanceof Error) continue;
      if (typeof value === "object") addModule(`${prefix}${name}.`, value);
      if (typeof value !== "function" || prefix + name === "randflake.schema.~standard.jsonSchema.output") continue;
      if (isClass(value)) addClass(prefix + name, value);
      else add(prefix + name, value);
    }
  };
  addModule("", polyflake);
  return found;
}

/** Returns a generator of each format. */
function generators({ hotguid, layout, randflake, sno, uuid7 }) {
  const grant = new randflake.Grant(7, 1_730_000_000, 2_803_741_000);
  const discord = layout.Layout.preset("discord", { worker: 1, process: 2 });
  return [
    new sno.Generator(),
    new hotguid.Generator(),
    new randflake.Generator(grant, SECRET),
    new layout.Generator(discord),
    new uuid7.Generator(),
  ];
}

/**
 * Runs a call, which must return a value, throw a typed error, or throw an error that one of the caller's objects
 * throws.
 */
async function assertTypedErrors(name, call) {
  try {
    const made = call();
    return made instanceof Promise ? await made : made;
  } catch (error) {
    assert(
      error?.name === "PolyflakeError" || error instanceof ForeignError,
      `${name}: ${error?.stack ?? String(error)}`,
    );
  }
}

/**
 * Uses the result of a call. If the result is a generator, generates an ID. If it is an array of IDs, reads its
 * strings.
 */
async function assertUsable(name, made) {
  if (typeof made?.generate === "function") await assertTypedErrors(name, () => made.generate());
  if (typeof made?.texts === "function") await assertTypedErrors(name, () => made.texts());
}

for (const [machine, polyflake, other] of [
  ["native", native, wasm],
  ["wasm", wasm, native],
]) {
  describe(machine, () => {
    const good = goodArguments(polyflake);
    const all = calls(polyflake, good);
    const mine = generators(polyflake);
    const foreign = [
      ...generators(other),
      new other.randflake.Grant(7, 1_730_000_000, 1_730_000_001),
      other.layout.Layout.preset("discord"),
      ...mine,
    ];

    const assertStillWorks = () => {
      for (const ids of mine) assert.notEqual(ids.generate(), ids.generate());
      assert.equal(polyflake.sno.parse(ID).metabyte, 1);
      assert.equal(polyflake.layout.Layout.preset("discord").parse(175928847299117063n).sequence, 7);
    };

    test("every export is tested", () => {
      assert.deepEqual(Object.keys(all).sort(), Object.keys(good).sort());
    });

    for (const [name, call] of Object.entries(all)) {
      test(name, async () => {
        await assertUsable(name, await call(...good[name]));
        await assertTypedErrors(name, call);
        for (let place = 0; place <= good[name].length; place++) {
          for (const wrong of [...invalidCopies(good[name][place]), ...foreign]) {
            const values = [...good[name]];
            values[place] = wrong;
            await assertUsable(name, await assertTypedErrors(name, () => call(...values)));
          }
        }
        assertStillWorks();
        await assertUsable(name, await call(...good[name]));
      });
    }

    test("any arguments are accepted or rejected with an error", async () => {
      const kinds = [
        "withBigInt",
        "withBoxedValues",
        "withDate",
        "withNullPrototype",
        "withTypedArray",
        "withMap",
        "withSet",
      ];
      const options = Object.fromEntries([...kinds, "withSparseArray"].map((kind) => [kind, true]));
      const values = fc.array(fc.oneof(fc.anything(options), fc.constantFrom(...invalidValues())), { maxLength: 3 });
      const call = fc.record({ name: fc.constantFrom(...Object.keys(all)), values });
      const property = fc.asyncProperty(call, async ({ name, values }) => {
        await assertTypedErrors(name, () => all[name](...values));
      });
      await fc.assert(property, { numRuns: 10_000 });
      assertStillWorks();
    });

    test("classes called without new throw", async () => {
      for (const name of Object.keys(good).filter((name) => /^(\w+\.)?[A-Z]\w*$/.test(name))) {
        const Class = name.split(".").reduce((module, part) => module[part], polyflake);
        assert.throws(() => Class(...good[name]), TypeError, name);
        assert.throws(() => Reflect.apply(Class, {}, good[name]), TypeError, name);
        for (const place of good[name].keys())
          await assertTypedErrors(name, () => Reflect.construct(Class, good[name].slice(0, place), Object));
      }
      assertStillWorks();
    });

    test("closed generators reject every call", async () => {
      for (const ids of generators(polyflake)) {
        const makers = functionsOf(ids).filter((name) => /^generate/.test(name));
        const values = { generateMany: [1], generateManyAsync: [1], generateAt: [NOW] };
        ids.close();
        for (const name of makers) {
          const call = async () => ids[name](...(values[name] ?? []));
          await assert.rejects(call, { code: "generator_closed" }, name);
        }
        assert.throws(() => ids.close(), { code: "generator_closed" });
        assert(ids.stats().closed);
      }
    });
  });
}
