// Every export and every method, with every wrong value at every place: the answer is a value, a typed error or the error that
// the value throws itself, and everything works afterwards.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import * as native from "polyflake/native";
import * as wasm from "polyflake/wasm";
import {
  detached,
  hostile,
  Lying,
  NOT_A_BIGINT,
  NOT_A_NUMBER,
  NOT_WHOLE,
  notATextOf,
  notBytesOf,
  Theirs,
} from "./catalogue.mjs";
import { NOW } from "./refusals.mjs";

const ID = "a7rdmuv326nct5if";
const GUID = "691f29d0-bbaa-ddcc-ee01-0203ffffff7f";
const SECRET = new Uint8Array(16).fill(7);
const WINDOW = [NOW - 4000, NOW + 4000];
const clock = () => NOW;

const raising = (name) => () => {
  throw new Theirs(name);
};

function resized() {
  const buffer = new ArrayBuffer(16, { maxByteLength: 32 });
  const bytes = [new Uint8Array(buffer), new Uint8Array(buffer, 8, 8)];
  buffer.resize(12);
  return bytes;
}

/** Wrong values for any parameter: of every type, most of them several times. */
const wrongs = () => [
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
  ...[...NOT_A_NUMBER, ...NOT_WHOLE, ...NOT_A_BIGINT, ...notATextOf(ID), ...notBytesOf(16)],
  ...["\ud800".repeat(16), "x".repeat(2 ** 20), "２".repeat(16), "__proto__", "\0", Object(true), Object(Symbol("s"))],
  ...[
    hostile,
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
    detached(),
    new Lying(10),
    new Uint8Array(0),
    new Uint8Array(7),
    new Uint8Array(16),
    new Uint8Array(new SharedArrayBuffer(16)),
    ...resized(),
  ],
  ...[
    { valueOf: raising("valueOf") },
    { toString: raising("toString") },
    { [Symbol.toPrimitive]: raising("toPrimitive") },
    { [Symbol.iterator]: raising("iterator") },
    { then: raising("then") },
  ],
  ...[
    raising("called"),
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

/** Wrong values in place of a good argument, and copies of it with one wrong member. */
function* spoilt(value, depth = 3) {
  yield* wrongs();
  if (depth === 0 || typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
  if (![Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value))) return;
  for (const name of Object.keys(value)) {
    const copy = () => (Array.isArray(value) ? [...value] : { ...value });
    for (const wrong of spoilt(value[name], depth - 1)) yield Object.assign(copy(), { [name]: wrong });
    const without = copy();
    delete without[name];
    yield without;
    yield Object.defineProperty(copy(), name, { get: raising("a getter") });
  }
  if (!Array.isArray(value)) yield { ...value, other: 1 };
}

/** The shared options of a generator, and those of one family. */
const options = (own = {}) => ({ clock, maxWait: 0, onExhausted: "error", onStall: () => undefined, ...own });

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

/** Methods without arguments. */
const without = (prefix, ...names) => Object.fromEntries(names.map((name) => [prefix + name, []]));

/** Functions of a schema. */
function schemaOf(family, id) {
  const standard = `${family}.schema.~standard`;
  const output = family === "randflake" ? {} : { [`${standard}.jsonSchema.output`]: [{ target: "draft-07" }] };
  return { [`${standard}.validate`]: [id], [`${standard}.jsonSchema.input`]: [{ target: "openapi-3.0" }], ...output };
}

/** Good arguments for every export, by name; those of a class are for its constructor. */
function goodArguments({ layout, randflake, sno }) {
  const grant = new randflake.Grant([7, 8], 1_730_000_000, 2_803_741_000);
  const discord = layout.Layout.preset("discord", { worker: 1, process: 2 });
  const parts = { tick: 1, tickTock: true, metabyte: 1, partition: 1, sequence: 1 };
  const stop = (family, ...more) => new family.Generator(...more).close();
  return {
    ...Object.fromEntries(["hotguid", "layout", "randflake", "sno", "sparx64"].map((name) => [`${name}.init`, []])),
    ...schemaOf("sno", ID),
    ...schemaOf("hotguid", GUID),
    ...schemaOf("randflake", "1"),
    "sno.schema.ofMetabyte": [24],
    "sno.parse": [ID],
    "sno.isValid": [ID],
    "sno.metabyte": [ID],
    "sno.withMetabyte": [ID, 1],
    "sno.withPartition": [ID, 1],
    "sno.withSequence": [ID, 1],
    "sno.timeRange": [NOW, new Date(NOW + 4)],
    "sno.fromParts": [parts],
    "sno.fromBytes": [new Uint8Array(10)],
    "sno.toBytes": [ID],
    "sno.toUuid": [ID],
    "sno.fromUuid": [sno.toUuid(ID)],
    "sno.toUuid8": [ID],
    "sno.fromUuid8": [sno.toUuid8(ID)],
    "sno.fromJsonValue": [ID, { nullIsZero: true }],
    "sno.toJsonValue": [ID, { nullIsZero: true }],
    "sno.generate": [1],
    "sno.generateMany": [3, 1],
    "sno.generateAsync": [1, { signal: new AbortController().signal }],
    "sno.generateManyAsync": [3, 1, { signal: new AbortController().signal }],
    "sno.setDefaultGenerator": [undefined],
    "sno.describe": [],
    "sno.SnoArray": [new Uint8Array(20)],
    "sno.SnoArray.from": [[ID, ID]],
    ...without("sno.SnoArray#", "texts", "Symbol(Symbol.iterator)", "unixMs", "metabytes", "partitions", "sequences"),
    "sno.SnoArray#at": [0],
    "sno.Generator": [options({ partition: 1, sequenceMin: 0, sequenceMax: 1000, metabyte: 1, window: WINDOW })],
    "sno.Generator.restore": [stop(sno, { partition: 1 }), options({ metabyte: 1, window: WINDOW })],
    "sno.Generator.importOriginal": [stop(sno, { partition: 1 }), options({ metabyte: 1, window: WINDOW })],
    "sno.Generator#generateAsync": [1, { signal: new AbortController().signal }],
    "sno.Generator#generateManyAsync": [3, 1, { signal: new AbortController().signal }],
    "sno.Generator#generate": [1],
    "sno.Generator#tryGenerate": [1],
    "sno.Generator#generateAt": [NOW, 1],
    "sno.Generator#generateMany": [3, 1],
    "sno.Generator#tryGenerateMany": [3, 1],
    "sno.Generator#extendWindow": [NOW + 1000],
    "sno.Generator#stats": [],
    "sno.Generator#close": [],
    "randflake.encodeText": [-1n],
    "randflake.decodeText": ["1uv"],
    "randflake.toUnsigned": [-1n],
    "randflake.fromUnsigned": [1n],
    "randflake.describe": [],
    "randflake.Grant": [[7, 8], 1_730_000_000, 2_803_741_000],
    "randflake.Codec": [SECRET],
    "randflake.Codec#inspect": [1n],
    "randflake.Codec#inspectColumns": [BigInt64Array.of(1n)],
    "randflake.Codec#encrypt": [{ timestamp: 1_763_650_000, node: 1, sequence: 1 }],
    "randflake.RandflakeArray": [new BigInt64Array(2)],
    "randflake.RandflakeArray.from": [["1uv", "0"]],
    "randflake.RandflakeArray#texts": [],
    "randflake.RandflakeArray#at": [0],
    "randflake.RandflakeArray#Symbol(Symbol.iterator)": [],
    "randflake.Generator": [grant, SECRET, options({ resumeAfter: 1_730_000_000 })],
    "randflake.Generator#generateAsync": [{ signal: new AbortController().signal }],
    "randflake.Generator#generateManyAsync": [3, { signal: new AbortController().signal }],
    "randflake.Generator#generateTextAsync": [{ signal: new AbortController().signal }],
    "randflake.Generator#generate": [],
    "randflake.Generator#tryGenerate": [],
    "randflake.Generator#generateText": [],
    "randflake.Generator#tryGenerateText": [],
    "randflake.Generator#generateMany": [3],
    "randflake.Generator#tryGenerateMany": [3],
    "randflake.Generator#extendGrant": [grant],
    "randflake.Generator#inspect": [1n],
    "randflake.Generator#stats": [],
    "randflake.Generator#close": [],
    "hotguid.parse": [GUID],
    "hotguid.isValid": [GUID],
    "hotguid.parts": [GUID],
    "hotguid.uuid8Parts": ["691f29d0-0000-8000-8100-000100000001"],
    "hotguid.fromUuid8Parts": [{ timestamp: 1, machine: 1, counter: 1, shardKey: 1 }],
    "hotguid.fromParts": [{ timestamp: 1, machine: new Uint8Array(5), counter: 1, shardKey: 1 }],
    "hotguid.shardKey": [GUID],
    "hotguid.timestamp": [GUID],
    "hotguid.toSql": [GUID],
    "hotguid.fromSql": [GUID],
    "hotguid.toBytes": [GUID],
    "hotguid.fromBytes": [new Uint8Array(16)],
    "hotguid.toDotnetBytes": [GUID],
    "hotguid.fromDotnetBytes": [new Uint8Array(16)],
    "hotguid.timeRange": [NOW, NOW + 1000, { sql: true }],
    "hotguid.generate": [1],
    "hotguid.generateMany": [3, 1],
    "hotguid.generateAsync": [1, { signal: new AbortController().signal }],
    "hotguid.generateManyAsync": [3, 1, { signal: new AbortController().signal }],
    "hotguid.setDefaultGenerator": [undefined],
    "hotguid.describe": [],
    "hotguid.HotGuidArray": [new Uint8Array(32)],
    "hotguid.HotGuidArray.from": [[GUID, GUID]],
    ...without(
      "hotguid.HotGuidArray#",
      "texts",
      "Symbol(Symbol.iterator)",
      "timestamps",
      "machines",
      "counters",
      "shardKeys",
    ),
    "hotguid.HotGuidArray#at": [0],
    "hotguid.Generator": [options({ uuid8: true, window: WINDOW })],
    "hotguid.Generator#generateAsync": [1, { signal: new AbortController().signal }],
    "hotguid.Generator#generateManyAsync": [3, 1, { signal: new AbortController().signal }],
    "hotguid.Generator#generate": [1],
    "hotguid.Generator#tryGenerate": [1],
    "hotguid.Generator#generateMany": [3, 1],
    "hotguid.Generator#tryGenerateMany": [3, 1],
    "hotguid.Generator#extendWindow": [NOW + 2000],
    "hotguid.Generator#stats": [],
    "hotguid.Generator#close": [],
    "layout.Layout": [DESCRIPTION],
    "layout.Layout.fromJson": [JSON.stringify(DESCRIPTION)],
    "layout.Layout.preset": ["discord", { worker: 1, process: 2 }],
    "layout.Layout#toJson": [],
    "layout.Layout#pack": [{ timestamp: NOW, sequence: 1, bindables: { b: "b" }, constants: { c: new Uint8Array(2) } }],
    "layout.Layout#packColumns": [
      { timestamp: NOW, sequence: new Float64Array(2), bindables: { b: "b" }, constants: { c: new Uint8Array(2) } },
    ],
    "layout.Layout#parse": [new Uint8Array(12)],
    "layout.Layout#parsedFromJson": [
      { unixMs: String(NOW), sequence: 1, bindables: { b: "b" }, constants: { c: "0000" } },
    ],
    "layout.Layout#parseColumns": [new Uint8Array(24)],
    "layout.Layout#timeRange": [NOW, NOW + 1, {}],
    "layout.Layout#describe": [],
    "layout.LayoutArray": [new Uint8Array(24), 12],
    "layout.LayoutArray.from": [["1", "-2"]],
    "layout.LayoutArray#at": [0],
    "layout.LayoutArray#Symbol(Symbol.iterator)": [],
    "layout.Generator": [
      layout.Layout.preset("instagram"),
      options({ range: ["shard", 1, 2], sequenceOnly: false, window: WINDOW }),
    ],
    "layout.Generator.restore": [discord, stop(layout, discord), options({ bindables: {}, window: WINDOW })],
    "layout.Generator#generateAsync": [{}, { signal: new AbortController().signal }],
    "layout.Generator#generateManyAsync": [3, {}, { signal: new AbortController().signal }],
    "layout.Generator#generate": [{}],
    "layout.Generator#tryGenerate": [{}],
    "layout.Generator#generateMany": [3, {}],
    "layout.Generator#tryGenerateMany": [3, {}],
    "layout.Generator#extendWindow": [NOW + 2000],
    ...without("layout.Generator#", "stats", "close"),
    "sparx64.Sparx64": [SECRET],
    ...Object.fromEntries(
      ["encrypt", "decrypt", "encryptMany", "decryptMany"].map((name) => [
        `sparx64.Sparx64#${name}`,
        [new Uint8Array(8)],
      ]),
    ),
    "layout.presets": [],
    backend: [],
    clockSource: [],
  };
}

const isClass = (value) => /^class\b/.test(Function.prototype.toString.call(value));

/** Methods that JSON.stringify and consoles call. */
const NOT_CALLED = ["constructor", "toJSON", "toString", Symbol.for("nodejs.util.inspect.custom")];

/** The functions of an object and of its classes, without those of the language. */
function functionsOf(object) {
  const names = new Set();
  for (
    let owner = object;
    owner && owner !== Object.prototype && owner !== Function.prototype;
    owner = Object.getPrototypeOf(owner)
  ) {
    for (const name of Reflect.ownKeys(owner)) {
      const value = Reflect.getOwnPropertyDescriptor(owner, name).value;
      if (!NOT_CALLED.includes(name) && typeof value === "function" && !isClass(value)) names.add(name);
    }
  }
  return [...names];
}

/** All functions, methods and constructors, by the same names; `make` makes an instance. */
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
  const addAll = (prefix, module) => {
    for (const [name, value] of Object.entries(module)) {
      // The error class takes any arguments, as the language's own errors do. The JSON Schema of bigints is always refused.
      // Node adds a default to CommonJS.
      if (name === "default" || value.prototype instanceof Error) continue;
      if (typeof value === "object") addAll(`${prefix}${name}.`, value);
      if (typeof value !== "function" || prefix + name === "randflake.schema.~standard.jsonSchema.output") continue;
      if (isClass(value)) addClass(prefix + name, value);
      else add(prefix + name, value);
    }
  };
  addAll("", polyflake);
  return found;
}

/** A generator of each family, with the call that makes one ID. */
function generators({ hotguid, layout, randflake, sno }) {
  const grant = new randflake.Grant(7, 1_730_000_000, 2_803_741_000);
  const discord = layout.Layout.preset("discord", { worker: 1, process: 2 });
  return [
    new sno.Generator(),
    new hotguid.Generator(),
    new randflake.Generator(grant, SECRET),
    new layout.Generator(discord),
  ];
}

/** Runs a call, which must return a value, throw a typed error, or throw the error of one of the caller's objects. */
async function isTyped(name, call) {
  try {
    const made = call();
    return made instanceof Promise ? await made : made;
  } catch (error) {
    assert(error?.name === "PolyflakeError" || error instanceof Theirs, `${name}: ${error?.stack ?? String(error)}`);
  }
}

/** Uses the result of a call: a generator makes an ID, a list returns its items. */
async function isUsable(name, made) {
  if (typeof made?.generate === "function") await isTyped(name, () => made.generate());
  if (typeof made?.texts === "function") await isTyped(name, () => made.texts());
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

    const stillWell = () => {
      for (const ids of mine) assert.notEqual(ids.generate(), ids.generate());
      assert.equal(polyflake.sno.parse(ID).metabyte, 1);
      assert.equal(polyflake.layout.Layout.preset("discord").parse(175928847299117063n).sequence, 7);
    };

    test("nothing that is exported is left out", () => {
      assert.deepEqual(Object.keys(all).sort(), Object.keys(good).sort());
    });

    for (const [name, call] of Object.entries(all)) {
      test(name, async () => {
        await isUsable(name, await call(...good[name]));
        await isTyped(name, call);
        for (let place = 0; place <= good[name].length; place++) {
          for (const wrong of [...spoilt(good[name][place]), ...foreign]) {
            const values = [...good[name]];
            values[place] = wrong;
            await isUsable(name, await isTyped(name, () => call(...values)));
          }
        }
        stillWell();
        await isUsable(name, await call(...good[name]));
      });
    }

    test("any values at any places", async () => {
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
      const values = fc.array(fc.oneof(fc.anything(options), fc.constantFrom(...wrongs())), { maxLength: 3 });
      const call = fc.record({ name: fc.constantFrom(...Object.keys(all)), values });
      const property = fc.asyncProperty(call, async ({ name, values }) => {
        await isTyped(name, () => all[name](...values));
      });
      await fc.assert(property, { numRuns: 10_000 });
      stillWell();
    });

    test("classes called without new", async () => {
      for (const name of Object.keys(good).filter((name) => /^(\w+\.)?[A-Z]\w*$/.test(name))) {
        const Class = name.split(".").reduce((module, part) => module[part], polyflake);
        assert.throws(() => Class(...good[name]), TypeError, name);
        assert.throws(() => Reflect.apply(Class, {}, good[name]), TypeError, name);
        for (const place of good[name].keys())
          await isTyped(name, () => Reflect.construct(Class, good[name].slice(0, place), Object));
      }
      stillWell();
    });

    test("generators that are closed", async () => {
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
      stillWell();
    });
  });
}
