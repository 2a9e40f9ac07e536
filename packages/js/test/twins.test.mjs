// The warning about two generators of a process that would repeat each other's IDs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { onEachMachine } from "./machines.mjs";
import { NOW, refused } from "./refusals.mjs";

const START = 1_730_000_000;
const SECRET = new Uint8Array(16);

/** The warnings of a call. */
async function warningsOf(call) {
  const heard = [];
  const hear = (warning) => heard.push(warning);
  process.on("warning", hear);
  call();
  await setImmediate();
  process.off("warning", hear);
  return heard;
}

onEachMachine(({ layout, randflake }, name) => {
  const sonyflake = layout.Layout.preset("sonyflake");
  const flakes = ({ nodes = 7, start = START, end = START + 1000, secret = SECRET } = {}) =>
    new randflake.Generator(new randflake.Grant(nodes, start, end), secret);
  const sonyflakes = (machine = 7, more = {}) => new layout.Generator(sonyflake, { bindables: { machine }, ...more });

  const silent = async (call) => assert.deepEqual(await warningsOf(call), []);
  const warned = async (call) => {
    const [warning, ...others] = await warningsOf(call);
    assert.deepEqual([warning?.name, warning?.code, others], ["PolyflakeWarning", "polyflake_twin", []]);
    assert.match(warning.message, /^another generator has the same [a-z, ]+ and time: they repeat each other's IDs$/);
  };

  for (const [family, make] of Object.entries({ flakes, sonyflakes })) {
    test(`${family}: a twin is warned of`, async () => {
      let one;
      await silent(() => (one = make()));
      await warned(() => make().close());
      one.close();
    });

    test(`${family}: one that was closed has no twin`, async () => {
      await silent(() => {
        for (let k = 0; k < 3; k++) make().close();
      });
    });
  }

  test("other grants are no twins", async () => {
    const kept = [];
    await silent(() => {
      kept.push(flakes({ nodes: 17 }), flakes({ nodes: 18 }), flakes({ nodes: [17, 18] }));
      kept.push(
        flakes({ nodes: 17, secret: new Uint8Array(16).fill(1) }),
        flakes({ nodes: 17, start: START + 1000, end: START + 2000 }),
      );
    });
    await warned(() => kept.push(flakes({ nodes: 17, start: START + 500, end: START + 1000 })));
    kept[1].extendGrant(new randflake.Grant(18, START, START + 1500));
    await warned(() => kept.push(flakes({ nodes: 18, start: START + 1400, end: START + 2000 })));
    assert.equal(kept.length, 7);
  });

  test("other bindables and windows are no twins", async () => {
    const kept = [];
    await silent(() => {
      kept.push(sonyflakes(17), sonyflakes(18), new layout.Generator(sonyflake), new layout.Generator(sonyflake));
      kept.push(sonyflakes(19, { window: [NOW, NOW + 1000] }), sonyflakes(19, { window: [NOW + 1000, NOW + 2000] }));
    });
    kept[4].extendWindow(NOW + 1500);
    await warned(() =>
      kept.push(new layout.Generator(layout.Layout.fromJson(sonyflake.toJson()), { bindables: { machine: 17n } })),
    );
    await warned(() => kept.push(sonyflakes(19, { window: [NOW + 500, NOW + 600] })));
    const snapshot = kept[1].close();
    await silent(() => kept.push(layout.Generator.restore(sonyflake, snapshot, { bindables: { machine: 18 } })));
    await warned(() => kept.push(layout.Generator.restore(sonyflake, snapshot, { bindables: { machine: 18 } })));
  });

  test("a twin that is refused warns of nothing", async () => {
    const one = flakes({ nodes: 27 });
    await silent(() => refused("invalid_secret", () => flakes({ nodes: 27, secret: new Uint8Array(5) })));
    one.close();
  });

  test("many generators are made as fast as few", async () => {
    const kept = [];
    await silent(() => {
      for (let node = 1000; node < 21_000; node++) kept.push(flakes({ nodes: node }));
    });
    assert.equal(kept.length, 20_000);
  });

  test("where there is nobody to warn, and no weak references, generators are made all the same", () => {
    const program = `
      delete globalThis.WeakRef;
      globalThis.process = undefined;
      const { randflake } = await import("polyflake/${name}");
      const make = () => new randflake.Generator(new randflake.Grant(1, 1730000000, 2803741824), new Uint8Array(16));
      if (typeof [make(), make()][1].generate() !== "bigint") throw new Error("no ID");
    `;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8",
      cwd: import.meta.dirname,
    });
    assert.equal(status, 0, stderr);
  });

  test("one that is gone has no twin", () => {
    const program = `
      import { randflake } from "polyflake/${name}";
      process.on("warning", (warning) => { console.log(warning.name); });
      const make = () => void new randflake.Generator(new randflake.Grant(1, 1730000000, 2803741824), new Uint8Array(16));
      for (let k = 0; k < 3; k++) {
        make();
        await new Promise((resolve) => setTimeout(resolve, 5));
        gc();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    `;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--expose-gc", "--input-type=module", "--eval", program],
      { encoding: "utf8", cwd: import.meta.dirname },
    );
    assert.deepEqual([status, stdout], [0, ""], stderr);
  });
});
