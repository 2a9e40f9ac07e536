// Tests objects that callers pass: which properties are read, which values are rejected, and how errors thrown by the
// objects are handled.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import vm from "node:vm";
import { assertError, assertRejects, NOW } from "./assertions.mjs";
import { ForeignError, thrower, throwingProxy } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";

const clock = () => NOW;
const SECRET = new Uint8Array(16);
const GUID = "691f29d0-bbaa-ddcc-ee01-0203ffffff7f";

/**
 * Calls that read an object's properties, keyed by the object's name in errors. Each entry has a valid object and a
 * function that makes the call with another object.
 */
function readers({ hotguid, layout, randflake, sno, uuid7 }) {
  const grant = new randflake.Grant(1, 1_730_000_000, 2_803_741_824);
  const discord = layout.Layout.preset("discord");
  const close = () => {
    const ids = new sno.Generator({ partition: 7, testClock: clock });
    ids.generate();
    return ids.close();
  };
  /** Returns what `read` returns, and closes the generator, so that the next one can have its worker ID. */
  const closeAfter = (ids, read = () => ids) => {
    const result = read(ids);
    ids.close();
    return result;
  };
  return {
    "options of sno": [
      "options",
      { partition: 7 },
      (options) => closeAfter(new sno.Generator(options), ({ partition }) => partition),
    ],
    "options of a restored generator": [
      "options",
      { metabyte: 7 },
      (options) => closeAfter(sno.Generator.restore(close(), options)),
    ],
    "a snapshot": ["snapshot", close(), (snapshot) => closeAfter(sno.Generator.restore(snapshot))],
    "parts of sno": ["parts", { tick: 1, tickTock: true, metabyte: 1, partition: 1, sequence: 1 }, sno.fromParts],
    "options for JSON": ["options", { nullIsZero: true }, (options) => sno.fromJsonValue(null, options)],
    "options of Randflake": [
      "options",
      { maxWait: 7 },
      (options) => closeAfter(new randflake.Generator(grant, SECRET, options)),
    ],
    "parts of Randflake": [
      "parts",
      { timestamp: 1_763_650_000, node: 1, sequence: 1 },
      (parts) => new randflake.Codec(SECRET).encrypt(parts),
    ],
    "a grant": [
      "grant",
      { nodes: [1, 2], start: 1_730_000_000, end: 2_803_741_824 },
      (grant) => closeAfter(new randflake.Generator(grant, SECRET), ({ grant }) => grant),
    ],
    "options of Hot Guid": ["options", { maxWait: 7 }, (options) => new hotguid.Generator(options)],
    "options of UUID v7": ["options", { maxWait: 7 }, (options) => new uuid7.Generator(options)],
    "parts of UUID v7": ["parts", { unixMs: 1, sequence: 2, random: 3n }, uuid7.fromParts],
    "parts of Hot Guid": ["parts", hotguid.parts(GUID), hotguid.fromParts],
    "options of a time range": ["options", { sql: true }, (options) => hotguid.timeRange(NOW, NOW + 1000, options)],
    "options of a layout's generator": ["options", { maxWait: 7 }, (options) => new layout.Generator(discord, options)],
    "values of a layout": [
      "values",
      { timestamp: NOW, sequence: 1, bindables: { worker: 1, process: 2 } },
      (values) => discord.pack(values),
    ],
    "columns of a layout": [
      "values",
      { timestamp: NOW, sequence: new Float64Array(2), bindables: { worker: 1, process: 2 } },
      (values) => discord.packColumns(values),
    ],
    bindables: [
      "bindables",
      { worker: 1, process: 2 },
      (bindables) => discord.pack({ timestamp: NOW, sequence: 1, bindables }),
    ],
    "fields of a preset": [
      "fields",
      { worker: 1, process: 2 },
      (fields) => layout.Layout.preset("discord", fields).toJson(),
    ],
  };
}

/** Returns objects that are not valid options and that a caller could pass only by mistake. */
const invalidObjects = () => ({
  "a Date": new Date(NOW),
  "a Map": new Map([["partition", 7]]),
  "a Set": new Set(["partition"]),
  "an array": [],
  "an array of something": [7],
  bytes: new Uint8Array(2),
  "a RegExp": /x/,
  "a Promise": Promise.resolve({ partition: 7 }),
  "a boxed string": Object("partition"),
  "search parameters": new URLSearchParams("partition=7"),
  "an error": new Error("partition"),
  "an object of a class without members": new (class Nothing {})(),
  "a Date of another realm": vm.runInNewContext("new Date()"),
  "an array of another realm": vm.runInNewContext("[]"),
});

onEachMachine((polyflake) => {
  const { layout, randflake, sno } = polyflake;

  for (const [name, [field, good, read]] of Object.entries(readers(polyflake))) {
    describe(name, () => {
      const answer = (value) =>
        JSON.stringify(read(value), (_, member) => (typeof member === "bigint" ? `${member}` : member));

      test("any object with the members is accepted", () => {
        class Instance {
          constructor() {
            Object.assign(this, good);
          }
        }
        const frozen = Object.freeze({ __proto__: null, ...good });
        const foreign = Object.assign(vm.runInNewContext("({})"), good);
        for (const value of [{ ...good }, frozen, foreign, new Instance(), new Proxy(good, {})])
          assert.equal(answer(value), answer(good));
      });

      for (const [what, value] of Object.entries(invalidObjects())) {
        test(`rejects ${what}`, () => assertError("invalid_type", () => read(value), { field }));
      }

      test("exceptions of getters and proxies propagate", () => {
        const thrown = new ForeignError("thrown");
        const raise = () => {
          throw thrown;
        };
        for (const member of Object.keys(good)) {
          const value = Object.defineProperty({ ...good }, member, { get: raise, enumerable: true });
          assert.throws(
            () => read(value),
            (error) => error === thrown,
            member,
          );
        }
        for (const trap of ["get", "getPrototypeOf"]) {
          assert.throws(
            () => read(new Proxy({ ...good }, { [trap]: raise })),
            (error) => error === thrown,
            trap,
          );
        }
        assert.throws(() => read(throwingProxy), ForeignError);
        assert.equal(answer(good), answer(good));
      });
    });
  }

  test("options can be accessors of a class", () => {
    class Options {
      #partition = 7;
      get partition() {
        return this.#partition;
      }
    }
    assert.equal(new sno.Generator(new Options()).partition, 7);
    assert.equal(new sno.Generator(new (class extends Options {})()).partition, 7);
    assert.equal(new sno.Generator(Object.create({ partition: 9 })).partition, 9);
    assertError("unknown_field", () => new sno.Generator(Object.assign(new Options(), { other: 1 })), {
      field: "other",
    });
  });

  test("exceptions of iterables and elements propagate", () => {
    const thrown = new ForeignError("thrown");
    const raise = () => {
      throw thrown;
    };
    const isThrown = (error) => error === thrown;
    for (const List of [sno.SnoArray, randflake.RandflakeArray, polyflake.hotguid.HotGuidArray]) {
      assert.throws(() => List.from(Object.defineProperty(["x"], 0, { get: raise })), isThrown);
    }
    assert.throws(() => new sno.Generator({ window: thrower("length") }), ForeignError);
    assert.throws(() => new layout.Layout(thrower("fields")), ForeignError);
    assert.throws(() => layout.Generator.restore(layout.Layout.preset("discord"), thrower("tick")), ForeignError);
    const ids = new sno.Generator({ sequenceMax: 3, testClock: clock, maxWait: 1, onStall: raise });
    assert.throws(() => ids.generateMany(10), isThrown);
  });

  test("methods called on other objects are rejected", async () => {
    const grant = new randflake.Grant(1, 1_730_000_000, 2_803_741_824);
    const all = [
      ...[
        new sno.Generator({ partition: 7 }),
        new polyflake.hotguid.Generator(),
        new randflake.Generator(grant, SECRET),
      ],
      ...[
        new sno.SnoArray(new Uint8Array(20)),
        new randflake.RandflakeArray(new BigInt64Array(2)),
        new polyflake.hotguid.HotGuidArray(new Uint8Array(32)),
      ],
      ...[
        layout.Layout.preset("discord"),
        new layout.Generator(layout.Layout.preset("sonyflake")),
        new layout.LayoutArray(new BigInt64Array(2)),
      ],
      ...[new randflake.Codec(SECRET), new polyflake.sparx64.Sparx64(SECRET)],
    ];
    let seen = 0;
    for (const object of all) {
      const { generate } = object;
      if (generate && object.members === undefined && !object.layout) generate();
      for (
        let owner = Object.getPrototypeOf(object);
        owner !== Object.prototype;
        owner = Object.getPrototypeOf(owner)
      ) {
        for (const [name, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
          if (name === "constructor") continue;
          const foreign = all.find((each) => !(each instanceof owner.constructor));
          for (const other of [undefined, null, {}, foreign, Object.create(object)]) {
            const call = () => Reflect.apply(value ?? get, other, []);
            if (name.endsWith("Async")) await assertRejects("invalid_type", call(), { field: "this" });
            else assertError("invalid_type", call, { field: "this" });
            seen += 1;
          }
        }
        const iterate = owner[Symbol.iterator];
        if (Object.hasOwn(owner, Symbol.iterator))
          assertError("invalid_type", () => [...{ [Symbol.iterator]: () => iterate.call({}) }], { field: "this" });
      }
    }
    assert(seen > 200, `${seen}`);
  });
});

test("a polluted Object.prototype changes nothing", () => {
  const script = (entry) => `
    const { hotguid, layout, randflake, sno } = await import("polyflake/${entry}");
    const before = JSON.stringify(sno.parse("a7rdmuv326nct5if"));
    new sno.Generator(); // Loads the addon, so that Node does not load it after the prototype is polluted.
    Object.assign(Object.prototype, {
      partition: 7, sequenceMin: 5, testClock: () => 0, window: [0, 1], onStall: () => 0, sql: true, nullIsZero: true, worker: 9, resumeAfter: 1.5,
      bindables: { process: 3 }, constants: 1, timestamp: 5, sequence: 5, nodes: 1, start: 1, end: 2, length: 2, 0: 1, 1: 2, strange: 1, other() {},
      position: 1, field: "f", retryAt: 1, written: 1, item: 1, cause: 1, get: 1, set: 1, enumerable: true,
    });
    const clock = () => Date.UTC(2026, 0, 1);
    const said = [];
    const code = (call) => { try { call(); return "none"; } catch (error) { return [error.code, ...Object.keys(error)].join(); } };
    const drawn = new sno.Generator({ testClock: clock });
    const drawnBefore = drawn.partition;
    said.push(drawnBefore, sno.isValid(drawn.generate()), new sno.Generator({ partition: 8 }).partition);
    said.push(JSON.stringify(sno.parse("a7rdmuv326nct5if")) === before);
    said.push(code(() => sno.fromParts({ tick: 1, tickTock: true, metabyte: 1, partition: 1 })));
    said.push(code(() => new sno.Generator({ other: 1 })), code(() => new sno.Generator({ window: {} })));
    said.push(code(() => sno.fromJsonValue(null, {})), code(() => sno.parse("a7rdmuv326nct5i!")));
    said.push(hotguid.timeRange(0, 1000).lowest === hotguid.timeRange(0, 1000, { sql: false }).lowest);
    const grant = new randflake.Grant(1, 1730000000, 2803741824);
    said.push(typeof new randflake.Generator(grant, new Uint8Array(16), { testClock: clock }).generate());
    said.push(code(() => new randflake.Generator({}, new Uint8Array(16))));
    const discord = layout.Layout.preset("discord");
    said.push(code(() => discord.pack({ timestamp: 1420070400000, sequence: 1 })), code(() => discord.pack({ sequence: 1, bindables: { worker: 1, process: 1 } })));
    said.push(JSON.stringify(discord.parse(discord.pack({ timestamp: 1420070400000, sequence: 1, bindables: { worker: 1, process: 1 } })).bindables));
    said.push(typeof new layout.Generator(discord, { testClock: clock, bindables: { worker: 1, process: 1 } }).generate());
    console.log(said.join("\\n"));`;
  const parts = "missing_field,code,field";
  const expected = [
    "",
    true,
    8,
    true,
    parts,
    "unknown_field,code,field",
    "invalid_type,code,field",
    "invalid_type,code,field",
    "invalid_character,code,position,field",
  ];
  const more = [
    true,
    "bigint",
    "invalid_type,code,field",
    parts,
    "missing_field,code,field",
    '{"worker":1,"process":1}',
    "bigint",
  ];
  for (const entry of ["native", "wasm"]) {
    const options = { encoding: "utf8", cwd: new URL(".", import.meta.url) };
    const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", script(entry)], options);
    assert.deepEqual(printed.split("\n").slice(0, -1), [...expected, ...more].map(String));
  }
});
