// Tests the warning about two generators in one process that can generate the same IDs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { assertError, NOW } from "./assertions.mjs";
import { onEachMachine } from "./machines.mjs";

const START = 1_730_000_000;
const SECRET = new Uint8Array(16);

/** The warning is emitted once per identity, so each test uses a new identity. */
let nextNumber = 40_000;

/** Returns the warnings that a call emits. */
async function warningsOf(call) {
  const warnings = [];
  const onWarning = (warning) => warnings.push(warning);
  process.on("warning", onWarning);
  call();
  await setImmediate();
  process.off("warning", onWarning);
  return warnings;
}

onEachMachine(({ layout, randflake, sno }, name) => {
  const sonyflake = layout.Layout.preset("sonyflake");
  const flakes = ({ nodes = 7, start = START, end = START + 1000, secret = SECRET } = {}) =>
    new randflake.Generator(new randflake.Grant(nodes, start, end), secret);
  const sonyflakes = (machine = 7, more = {}) => new layout.Generator(sonyflake, { bindables: { machine }, ...more });

  const snos = (partition = 7, more = {}) => new sno.Generator({ partition, ...more });

  const assertNoWarning = async (call) => assert.deepEqual(await warningsOf(call), []);
  const assertWarning = async (call) => {
    const [warning, ...others] = await warningsOf(call);
    assert.deepEqual([warning?.name, warning?.code, others], ["PolyflakeWarning", "polyflake_twin", []]);
    assert.match(warning.message, /^another generator has the same .+: they repeat each other's IDs; close it first/);
    return warning.message;
  };

  const families = { flakes: (nodes) => flakes({ nodes }), sonyflakes, snos };
  for (const [family, make] of Object.entries(families)) {
    test(`${family}: conflicting generators warn once per identity, unless one was closed`, async () => {
      const [number, closed, other] = [nextNumber++, nextNumber++, nextNumber++];
      const kept = [];
      await assertNoWarning(() => kept.push(make(number)));
      const message = await assertWarning(() => {
        for (let k = 0; k < 100; k++) kept.push(make(number));
      });
      assert.match(message, new RegExp(`\\b${number}\\b`));
      await assertNoWarning(() => make(number));
      await assertNoWarning(() => {
        for (let k = 0; k < 3; k++) make(closed).close();
      });
      await assertWarning(() => kept.push(make(other), make(other)));
      assert.equal(kept.length, 103);
    });
  }

  test("partitions conflict if sequences and windows overlap", async () => {
    const [partition, windowed] = [nextNumber++, nextNumber++];
    const kept = [];
    await assertNoWarning(() => {
      kept.push(snos(partition, { sequenceMax: 999 }), snos(partition, { sequenceMin: 1000 }));
      kept.push(new sno.Generator(), new sno.Generator(), snos(nextNumber++));
      kept.push(snos(windowed, { window: [NOW, NOW + 1000] }), snos(windowed, { window: [NOW + 1000, NOW + 2000] }));
    });
    kept[6].extendWindow(NOW + 3000);
    // `extendWindow` ignores an end that is before the current one.
    kept[6].extendWindow(NOW + 2000);
    const bytes = new Uint8Array([windowed >> 8, windowed & 255]);
    const message = await assertWarning(() => snos(bytes, { window: [NOW + 2500, NOW + 3000], sequenceMin: 7 }));
    assert.match(message, new RegExp(`partition ${windowed}, time and some of the sequences 7 to 65535`));
    await assertWarning(() => snos(partition, { sequenceMin: 999, sequenceMax: 1002 }));
    assert.equal(kept.length, 7);
  });

  for (const how of ["restore", "importOriginal"]) {
    for (const isGiven of [true, false]) {
      test(`passing a snapshot of ${isGiven ? "an explicit" : "a default"} partition to ${how} twice warns`, async () => {
        const one = isGiven ? snos(nextNumber++) : new sno.Generator();
        one.generate();
        const snapshot = one.close();
        let two;
        await assertNoWarning(() => (two = sno.Generator[how](snapshot)));
        assert.match(await assertWarning(() => sno.Generator[how](snapshot)), /restore each snapshot once/);
        two.close();
      });
    }
  }

  test("bounds are read as the Go library reads them", async () => {
    const partition = nextNumber++;
    const snapshot = { ...snos(partition).close(), sequenceMin: 2000, sequenceMax: 1000, sequence: 1000 };
    const kept = [];
    await assertNoWarning(() =>
      kept.push(sno.Generator.importOriginal(snapshot), snos(partition, { sequenceMax: 999 })),
    );
    await assertWarning(() => snos(partition, { sequenceMin: 1500 }));
    assert.equal(kept.length, 2);
  });

  test("different grants do not conflict", async () => {
    const [first, second] = [nextNumber++, nextNumber++];
    const kept = [];
    await assertNoWarning(() => {
      kept.push(flakes({ nodes: first }), flakes({ nodes: second }), flakes({ nodes: [first, second] }));
      kept.push(
        flakes({ nodes: first, secret: new Uint8Array(16).fill(1) }),
        flakes({ nodes: first, start: START + 1000, end: START + 2000 }),
      );
    });
    await assertWarning(() => kept.push(flakes({ nodes: first, start: START + 500, end: START + 1000 })));
    kept[1].extendGrant(new randflake.Grant(second, START, START + 1500));
    await assertWarning(() => kept.push(flakes({ nodes: second, start: START + 1400, end: START + 2000 })));
    assert.equal(kept.length, 7);
  });

  test("ranges conflict if they overlap", async () => {
    const discord = layout.Layout.preset("discord");
    const withRange = (first, last, process = 9) =>
      new layout.Generator(discord, { bindables: { process }, range: ["worker", first, last] });
    const kept = [];
    await assertNoWarning(() => kept.push(withRange(0, 3), withRange(4n, 6n), withRange(8, 8), withRange(0, 8, 10)));
    const message = await assertWarning(() => withRange(6, 7));
    assert.match(message, /bindables {process: 9}, some of worker 6 to 7 and time/);
    const one = (worker, process) => new layout.Generator(discord, { bindables: { process, worker } });
    await assertNoWarning(() => kept.push(one(12, 9), one(9n, 10)));
    assert.match(await assertWarning(() => one(5n, 9)), /bindables {process: 9,worker: 5} and time/);
    const range = ["process", 8n, 9];
    await assertWarning(() => new layout.Generator(discord, { bindables: { worker: 2 }, range }));
    assert.equal(kept.length, 6);
  });

  test("different bindables and windows do not conflict", async () => {
    const [first, second, windowed] = [nextNumber++, nextNumber++, nextNumber++];
    const kept = [];
    await assertNoWarning(() => {
      kept.push(
        sonyflakes(first),
        sonyflakes(second),
        new layout.Generator(sonyflake),
        new layout.Generator(sonyflake),
      );
      kept.push(
        sonyflakes(windowed, { window: [NOW, NOW + 1000] }),
        sonyflakes(windowed, { window: [NOW + 1000, NOW + 2000] }),
      );
    });
    kept[4].extendWindow(NOW + 1500);
    await assertWarning(() =>
      kept.push(
        new layout.Generator(layout.Layout.fromJson(sonyflake.toJson()), { bindables: { machine: BigInt(first) } }),
      ),
    );
    await assertWarning(() => kept.push(sonyflakes(windowed, { window: [NOW + 500, NOW + 600] })));
    const snapshot = kept[1].close();
    await assertNoWarning(() =>
      kept.push(layout.Generator.restore(sonyflake, snapshot, { bindables: { machine: second } })),
    );
    await assertWarning(() =>
      kept.push(layout.Generator.restore(sonyflake, snapshot, { bindables: { machine: second } })),
    );
  });

  test("a rejected generator does not warn, and the order of bindables is irrelevant", async () => {
    const one = flakes({ nodes: 27 });
    await assertNoWarning(() => assertError("invalid_secret", () => flakes({ nodes: 27, secret: new Uint8Array(5) })));
    one.close();
    const discord = layout.Layout.preset("discord");
    const number = name === "wasm" ? 3 : 4;
    const other = new layout.Generator(discord, { bindables: { worker: number, process: 5 } });
    await assertWarning(() => new layout.Generator(discord, { bindables: { process: 5, worker: number } }).close());
    other.close();
  });

  test("many generators are made as fast as few", async () => {
    const kept = [];
    await assertNoWarning(() => {
      // Both backends record identities in the same registry, so each uses its own range of worker IDs.
      const first = name === "wasm" ? 1000 : 70_000;
      for (let node = first; node < first + 20_000; node++) kept.push(flakes({ nodes: node }));
    });
    assert.equal(kept.length, 20_000);
  });

  /** Runs a program in a new Node process, and asserts its output. */
  const assertPrints = (expected, program, ...flags) => {
    const all = [...flags, "--input-type=module", "--eval", program];
    const options = { encoding: "utf8", cwd: new URL(".", import.meta.url) };
    const { status, stdout, stderr } = spawnSync(process.execPath, all, options);
    assert.deepEqual([status, stdout], [0, expected], stderr);
  };
  const generatorSource = "new randflake.Generator(new randflake.Grant(1, 1730000000, 2803741824), new Uint8Array(16))";

  test("generators can be made without process warnings and weak references", () =>
    assertPrints(
      "bigint\n",
      `
      const { log } = console;
      delete globalThis.WeakRef;
      globalThis.process = undefined;
      const { randflake } = await import("polyflake/${name}");
      log(typeof [${generatorSource}, ${generatorSource}][1].generate());`,
    ));

  test("a collected generator does not conflict", () =>
    assertPrints(
      "",
      `
      import { randflake } from "polyflake/${name}";
      import { setTimeout as after } from "node:timers/promises";
      process.on("warning", (warning) => { console.log(warning.name); });
      for (let k = 0; k < 3; k++) {
        (() => void ${generatorSource})();
        await after(5);
        gc();
        await after(5);
      }`,
      "--expose-gc",
    ));
});
