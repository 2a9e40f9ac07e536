// Tests how the package's objects are serialized to JSON, printed to a console, and cloned.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { descriptionFromJson } from "polyflake/json";
import { assertError, NOW } from "./assertions.mjs";
import { onEachMachine } from "./machines.mjs";

const jsonRoundTrip = (value) => JSON.parse(JSON.stringify(value));
const SECRET = new Uint8Array(16);
const clock = () => NOW;

onEachMachine(({ hotguid, layout, randflake, sno, sparx64, uuid7 }) => {
  const grant = new randflake.Grant(1, 1_730_000_000, 2_803_741_824);
  const discord = layout.Layout.preset("discord", { worker: 1, process: 2 });
  const wideLayout = new layout.Layout({
    id: "bytes",
    bits: 72,
    fields: [
      { kind: "timestamp", bits: 64, tick: "1ms", epoch_ms: 0 },
      { kind: "bindable", bits: 8, name: "x", type: "bytes" },
    ],
  });
  // This layout has values of every type, a constant field and an inverted timestamp. The layout `micro` below has
  // ticks of a fractional number of milliseconds.
  const unusualLayout = new layout.Layout({
    id: "bytes",
    bits: 288,
    fields: [
      { kind: "timestamp", bits: 48, tick: "1ms", epoch_ms: 0, invert: true },
      { kind: "bindable", bits: 16, name: "zero", type: "bytes" },
      { kind: "bindable", bits: 24, name: "text", type: "text" },
      { kind: "bindable", bits: 80, name: "wide" },
      { kind: "constant", bits: 16, type: "text", name: "set", value: "ab" },
      { kind: "bindable", bits: 8, name: "kind" },
      { kind: "sequence", bits: 64 },
      { kind: "unused", bits: 32 },
    ],
  });
  const unused = new layout.Layout({ id: "integer", bits: 64, fields: [{ kind: "unused", bits: 64 }] });
  const micro = new layout.Layout({
    id: "integer",
    bits: 64,
    fields: [
      { kind: "timestamp", bits: 60, tick: "3us", epoch_ms: 0 },
      { kind: "sequence", bits: 4 },
    ],
  });
  const generators = [
    new sno.Generator({ partition: 7, testClock: clock }),
    new hotguid.Generator({ testClock: clock }),
    new randflake.Generator(grant, SECRET, { testClock: clock }),
    new layout.Generator(discord, { testClock: clock }),
    new uuid7.Generator({ testClock: clock }),
  ];
  const arrays = generators.map((generator) => generator.generateMany(8));

  test("arrays are lists of strings in JSON and round-trip", () => {
    const [snos, guids, flakes, ids, uuids] = arrays;
    assert.deepEqual(jsonRoundTrip(snos), snos.texts());
    assert.deepEqual(sno.SnoArray.from(jsonRoundTrip(snos)), snos);
    assert.deepEqual(hotguid.HotGuidArray.from(jsonRoundTrip(guids)), guids);
    assert.deepEqual(randflake.RandflakeArray.from(jsonRoundTrip(flakes)), flakes);
    assert.deepEqual(uuid7.Uuid7Array.from(jsonRoundTrip(uuids)), uuids);
    assert.deepEqual(jsonRoundTrip(ids), Array.from(ids.packed, String));
    assert.deepEqual(layout.LayoutArray.from(jsonRoundTrip(ids)), ids);
    const bytes = new layout.LayoutArray(
      Uint8Array.from({ length: 18 }, (_, k) => 255 - k),
      9,
    );
    assert.equal(jsonRoundTrip(bytes)[0], "fffefdfcfbfaf9f8f7");
    assert.deepEqual(layout.LayoutArray.from(jsonRoundTrip(bytes), 9), bytes);
    const [first, second] = [...bytes];
    assert.deepEqual(layout.LayoutArray.from([first, second], 9), bytes);
    assert.deepEqual(layout.LayoutArray.from([first, jsonRoundTrip(bytes)[1]], 9), bytes);
    assert.deepEqual(layout.LayoutArray.from([...ids]), ids);
    assert.deepEqual(layout.LayoutArray.from([...ids].map((id, k) => (k % 2 === 0 ? String(id) : id))), ids);
    assert.deepEqual(jsonRoundTrip({ ids: snos }).ids, snos.texts());
  });

  test("lists of values other than layout IDs are rejected", () => {
    const integers = ["", " 1", "1 ", "01", "+1", "1.0", "0x1", "1e3", "-0", `${2n ** 63n}`, "1".repeat(1000), 1, null];
    for (const text of [...integers, `${-(2n ** 63n) - 1n}`])
      assertError("invalid_type", () => layout.LayoutArray.from(["1", text]), { item: 1, field: "ids" });
    for (const text of ["", "0", "0g", "FF", "fff", 1, null])
      assertError("invalid_type", () => layout.LayoutArray.from(["ff", text], 1), { item: 1, field: "ids" });
    for (const value of ["1", {}, null, undefined])
      assertError("invalid_type", () => layout.LayoutArray.from(value), { field: "ids" });
    assertError("invalid_length", () => layout.LayoutArray.from([], 0));
    for (const length of [0, 1, 3])
      assertError("invalid_length", () => layout.LayoutArray.from(["ffff", new Uint8Array(length)], 2), { item: 1 });
    for (const end of [2n ** 63n, -(2n ** 63n) - 1n])
      assertError("out_of_range", () => layout.LayoutArray.from([1n, end]), { item: 1 });
    for (const end of [2n ** 63n - 1n, -(2n ** 63n)]) assert.equal(layout.LayoutArray.from([String(end)]).at(0), end);
  });

  test("layouts serialize to their descriptions", () => {
    for (const one of [discord, wideLayout]) {
      assert.equal(new layout.Layout(jsonRoundTrip(one)).toJson(), one.toJson());
      assert.equal(layout.Layout.fromJson(JSON.stringify(one)).toJson(), one.toJson());
    }
  });

  test("descriptions and parsed IDs serialize bigints as decimal strings and bytes as hex", () => {
    for (const family of [hotguid, randflake, sno, uuid7, discord, wideLayout]) {
      const description = family.describe();
      const json = jsonRoundTrip(description);
      for (const [name, value] of Object.entries(description)) {
        if (typeof value === "bigint") assert.equal(BigInt(json[name]), value);
        else assert.deepEqual(json[name], value, name);
      }
      assert.deepEqual(structuredClone(description), description);
    }
    const parsed = discord.parse(arrays[3].at(0));
    assert.deepEqual(jsonRoundTrip(parsed), {
      unixMs: String(NOW),
      timestamp: new Date(NOW).toISOString(),
      sequence: 0,
      bindables: {},
      constants: { worker: 1, process: 2 },
    });
    assert.deepEqual(structuredClone(parsed), parsed);
    const more = wideLayout.parse(wideLayout.pack({ timestamp: NOW, bindables: { x: new Uint8Array([200]) } }));
    assert.deepEqual(jsonRoundTrip(more).bindables, { x: "c8" });
    for (const generator of generators) assert.equal(typeof JSON.stringify(generator.stats()), "string");
  });

  test("descriptions round-trip", () => {
    for (const family of [hotguid, randflake, sno, uuid7, discord, wideLayout, unused]) {
      const description = family.describe();
      assert.deepEqual(descriptionFromJson(jsonRoundTrip(description)), description);
      assert.deepEqual(jsonRoundTrip(descriptionFromJson(jsonRoundTrip(description))), jsonRoundTrip(description));
      for (const name of Object.keys(jsonRoundTrip(description))) {
        const { [name]: _, ...others } = jsonRoundTrip(description);
        if (typeof description[name] === "bigint") assert.equal(descriptionFromJson(others)[name], undefined);
        else assertError("missing_field", () => descriptionFromJson(others), { field: name });
        for (const value of [{}, "x", 1.5, null])
          assertError("invalid_type", () => descriptionFromJson({ ...others, [name]: value }), { field: name });
      }
    }
    const read = (changes) => descriptionFromJson({ ...jsonRoundTrip(sno.describe()), ...changes });
    assertError("unknown_field", () => read({ more: 1 }), { field: "more" });
    assertError("missing_field", () => read({ fields: [{}] }), { field: "name" });
    const other = { name: "x", kind: "other", offset: 0, bits: 1 };
    assertError("invalid_type", () => read({ fields: [other] }), { field: "kind" });
    for (const json of [null, undefined, 1, "", []])
      assertError("invalid_type", () => descriptionFromJson(json), { field: "json" });
  });

  test("parsed IDs round-trip", () => {
    const ids = [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 175928847299117063n];
    const readable = ["discord", "twitter", "instagram", "sonyflake", "mastodon", "baidu"].map((name) =>
      layout.Layout.preset(name),
    );
    const parsed = readable.flatMap((one) => ids.map((id) => [one, one.parse(id)]));
    const values = { zero: new Uint8Array([0, 200]), text: "1", wide: 2n ** 70n, kind: 3 };
    const { wide: large, ...small } = values;
    for (const bindables of [
      { ...small, wide: large },
      { zero: new Uint8Array(0), text: "", wide: 0n, kind: 0 },
    ]) {
      parsed.push([
        unusualLayout,
        unusualLayout.parse(unusualLayout.pack({ timestamp: NOW + 1, bindables, sequence: 2n ** 60n })),
      ]);
    }
    parsed.push(
      [wideLayout, wideLayout.parse(new Uint8Array(9))],
      [unused, unused.parse(1n)],
      [micro, micro.parse(micro.pack({ timestamp: 1, sequence: 0 }))],
    );
    assert(parsed.length > 30);
    for (const [one, fields] of parsed) assert.deepEqual(one.parsedFromJson(jsonRoundTrip(fields)), fields);
    for (const [one, fields] of parsed)
      assert.deepEqual(jsonRoundTrip(one.parsedFromJson(jsonRoundTrip(fields))), jsonRoundTrip(fields));
    const good = jsonRoundTrip(parsed.find(([one]) => one === unusualLayout)[1]);
    const wrong = { sequence: ["x", 1.5, "01"], unixMs: [1, "1".repeat(1000)] };
    const invalidBindables = { zero: ["0", "C8", 1], text: [null, {}], wide: [1.5, "-0"], kind: [true] };
    for (const [field, values] of Object.entries(wrong))
      for (const value of values)
        assertError("invalid_type", () => unusualLayout.parsedFromJson({ ...good, [field]: value }), { field });
    const bind = (changes) => unusualLayout.parsedFromJson({ ...good, bindables: { ...good.bindables, ...changes } });
    for (const [field, values] of Object.entries(invalidBindables))
      for (const value of values) assertError("invalid_type", () => bind({ [field]: value }), { field });
    assertError("out_of_range", () => bind({ kind: 256 }), { field: "kind" });
    assertError("unknown_field", () => bind({ more: 1 }), { field: "more" });
    assertError("missing_field", () => unusualLayout.parsedFromJson({ ...good, bindables: {} }));
    assertError("unknown_field", () => unusualLayout.parsedFromJson({ ...good, more: 1 }), { field: "more" });
    for (const json of [null, undefined, 1, "", []])
      assertError("invalid_type", () => unusualLayout.parsedFromJson(json), { field: "json" });
  });

  test("the console shows class names and the first few IDs", () => {
    const [snos, , flakes, ids] = arrays;
    const shown = snos
      .texts()
      .slice(0, 6)
      .map((text) => `'${text}'`);
    assert.equal(inspect(snos), `SnoArray(8) [ ${shown.join(", ")}, ... 2 more ]`);
    assert.equal(inspect(new sno.SnoArray(new Uint8Array(0))), "SnoArray(0) []");
    assert(inspect(flakes).startsWith(`RandflakeArray(8) [ ${flakes.at(0)}n, `));
    assert(inspect(ids).startsWith(`LayoutArray(8) [ ${ids.at(0)}n, `));
    assert.equal(inspect(new layout.LayoutArray(new Uint8Array([1, 2]), 1)), "LayoutArray(2) [ '01', '02' ]");
    assert.equal(inspect(discord), `Layout ${discord.toJson()}`);
    assert(inspect(grant).startsWith("Grant {"));
    const secretHolders = [new randflake.Codec(SECRET), new sparx64.Sparx64(SECRET)];
    assert.deepEqual(secretHolders.map(inspect), ["Codec {}", "Sparx64 {}"]);
    const backend = inspect(generators[0]).match(/backend: (native|wasm)/)[1];
    const seven = new sno.Generator({ partition: 7 });
    assert.equal(inspect(seven), `Generator { format: sno, partition: 7, lease: false, backend: ${backend} }`);
    seven.close();
    assert.match(inspect(seven), /partition: 7/);
    assert.match(inspect(new sno.Generator()), /partition: undefined/);
    assert.equal(inspect(new hotguid.Generator()), `Generator { format: hotguid, lease: false, backend: ${backend} }`);
    const numbered = inspect(new uuid7.Generator({ workerId: 9 }));
    assert.equal(numbered, `Generator { format: uuid7, workerId: 9, lease: false, backend: ${backend} }`);
    for (const object of [...generators, ...secretHolders, ...arrays, discord])
      assert.equal(String(object), inspect(object));
    for (const generator of generators) assert(inspect(generator).startsWith("Generator {"));
    const classes = [sno.SnoArray, hotguid.HotGuidArray, randflake.RandflakeArray, layout.LayoutArray, layout.Layout];
    const names = ["SnoArray", "HotGuidArray", "RandflakeArray", "LayoutArray", "Layout"];
    assert.deepEqual(
      classes.map(({ prototype }) => prototype.constructor.name),
      names,
    );
    class Mine extends sno.Generator {}
    assert(inspect(new Mine()).startsWith("Mine {"));
  });

  test("objects that would lose their class cannot be cloned", () => {
    const secretHolders = [new randflake.Codec(SECRET), new sparx64.Sparx64(SECRET)];
    for (const object of [...arrays, ...generators, discord, ...secretHolders]) {
      const message = /^Symbol\(polyflake\.\w+\) could not be cloned\.$/;
      assert.throws(() => structuredClone(object), { name: "DataCloneError", message }, inspect(object));
    }
    const [snos, , flakes] = arrays;
    assert.deepEqual(new sno.SnoArray(structuredClone(snos.bytes)), snos);
    assert.deepEqual(new randflake.RandflakeArray(structuredClone(flakes.ids)), flakes);
    for (const object of [...generators.slice(0, 3), ...secretHolders]) assert.equal(JSON.stringify(object), "{}");
  });
});
