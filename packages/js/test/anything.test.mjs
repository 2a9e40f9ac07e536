// Any function with any arguments: the answer is a value or a typed error (or the error that a value throws itself), and everything
// works afterwards.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hostile, NOT_A_BIGINT, NOT_A_NUMBER, NOT_WHOLE, notATextOf, notBytesOf, Theirs } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";
import { NOW } from "./refusals.mjs";

const GUID = "691f29d0-bbaa-ddcc-ee01-0203ffffff7f";
const secret = new Uint8Array(16);

/** All functions of an object and of its class. */
function methodsOf(object) {
  const names = [object, Object.getPrototypeOf(object)].flatMap((owner) => Object.getOwnPropertyNames(owner));
  const methods = names.filter(
    (name) => name !== "constructor" && typeof object[name] === "function" && name !== "close",
  );
  return Object.fromEntries(methods.map((name) => [name, (...values) => object[name](...values)]));
}

const functionsOf = (module) =>
  Object.fromEntries(
    Object.entries(module).filter(([, value]) => typeof value === "function" && !/^class/.test(value)),
  );

onEachMachine(({ hotguid, layout, randflake, sparx64 }) => {
  const clock = () => NOW;
  const grant = new randflake.Grant([0, 131_071], 1_730_000_000, 2_803_741_824);
  const flakes = new randflake.Generator(grant, secret, { clock });
  const guids = new hotguid.Generator({ clock });
  const discord = layout.Layout.preset("discord");
  const ids = new layout.Generator(discord, { clock, bindables: { worker: 1, process: 2 }, maxWait: 0 });

  const calls = {
    randflake: {
      ...functionsOf(randflake),
      ...functionsOf(randflake.schema["~standard"]),
      ...methodsOf(flakes),
      ...methodsOf(new randflake.Codec(secret)),
      make: (...v) => new randflake.Generator(...v),
      grant: (...v) => new randflake.Grant(...v),
      codec: (v) => new randflake.Codec(v),
      array: (v) => new randflake.RandflakeArray(v).texts(),
    },
    hotguid: {
      ...functionsOf(hotguid),
      ...functionsOf(hotguid.schema["~standard"].jsonSchema),
      ...methodsOf(guids),
      make: (v) => new hotguid.Generator(v),
      array: (v) => new hotguid.HotGuidArray(v).texts(),
    },
    layout: {
      ...methodsOf(discord),
      ...functionsOf(discord.schema["~standard"]),
      ...methodsOf(ids),
      make: (...v) => new layout.Generator(...v),
      layout: (v) => new layout.Layout(v),
      preset: layout.Layout.preset,
      fromJson: layout.Layout.fromJson,
      restore: layout.Generator.restore,
      options: (v) => new layout.Generator(discord, v),
      snapshot: (v) => layout.Generator.restore(discord, v),
      array: (...v) => [...new layout.LayoutArray(...v)],
    },
    sparx64: { ...methodsOf(new sparx64.Sparx64(secret)), make: (v) => new sparx64.Sparx64(v) },
  };

  const anything = fc.oneof(
    fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withNullPrototype: true,
      withTypedArray: true,
      withSparseArray: true,
      withMap: true,
      withSet: true,
    }),
    fc.constantFrom(...NOT_A_NUMBER, ...NOT_A_BIGINT, ...NOT_WHOLE, ...notATextOf(GUID), ...notBytesOf(16), hostile),
    fc.constantFrom(
      -1,
      2 ** 32,
      2 ** 53,
      2n ** 63n,
      -(2n ** 63n) - 1n,
      GUID,
      "1uv",
      "twitter",
      secret,
      grant,
      discord,
      new Date(NOW),
      NOW,
    ),
  );

  for (const [family, functions] of Object.entries(calls)) {
    test(family, async () => {
      const call = fc.record({
        name: fc.constantFrom(...Object.keys(functions)),
        values: fc.array(anything, { maxLength: 3 }),
      });
      await fc.assert(
        fc.asyncProperty(call, async ({ name, values }) => {
          try {
            await functions[name](...values);
          } catch (error) {
            assert(error.name === "PolyflakeError" || error instanceof Theirs, `${name}: ${error.stack}`);
          }
        }),
        { numRuns: 4000 },
      );
      assert.equal(hotguid.shardKey(guids.generate(7)), 7);
      assert.equal(randflake.decodeText(randflake.encodeText(-1n)), -1n);
      assert.equal(discord.parse(175928847299117063n).sequence, 7);
      assert.equal(layout.Layout.fromJson(discord.toJson()).toJson(), discord.toJson());
    });
  }
});
