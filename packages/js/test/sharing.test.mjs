// Tests that a process has one live generator for each explicit worker ID: generators with equal options are one
// generator, and all others are rejected.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { assertError, NOW } from "./assertions.mjs";
import { END, SECRET, START } from "./families.mjs";
import { onEachMachine } from "./machines.mjs";

/** The end of a window that has not ended. */
const LATER = Date.UTC(2050, 0, 1);

/** Each test uses new worker IDs, because a generator lives until it is collected. */
let nextNumber = 40_000;

const assertAllDiffer = (ids, count) => assert.deepEqual([ids.length, new Set(ids).size], [count, count]);
const assertInUse = (field, make) => assertError("worker_id_in_use", make, { field });

/** Returns a function for each format that creates a generator with an explicit worker ID. */
function makersOf({ layout, randflake, sno, uuid7 }) {
  const sonyflake = layout.Layout.preset("sonyflake");
  return {
    grant: (nodes, more) => new randflake.Generator(new randflake.Grant(nodes, START, END), SECRET, more),
    bindables: (machine, more) => new layout.Generator(sonyflake, { bindables: { machine }, ...more }),
    partition: (partition, more) => new sno.Generator({ partition, ...more }),
    workerId: (workerId, more) => new uuid7.Generator({ workerId, ...more }),
  };
}

onEachMachine((polyflake, name) => {
  const { layout, randflake, sno } = polyflake;
  const makers = makersOf(polyflake);
  const { bindables: sonyflakes, partition: snos } = makers;
  const flakes = (nodes, start = START, end = END, secret = SECRET) =>
    new randflake.Generator(new randflake.Grant(nodes, start, end), secret);
  const discord = (process, more) =>
    new layout.Generator(layout.Layout.preset("discord"), {
      bindables: { process, ...more.bindables },
      range: more.range,
    });

  for (const [option, make] of Object.entries(makers)) {
    test(`${option}: generators with equal options are one generator`, () => {
      const number = nextNumber++;
      const [first, second] = [make(number), make(number, { onExhausted: "wait", clock: undefined })];
      const made = [...first.generateMany(5), ...second.generateMany(5)];
      assertAllDiffer(made, 10);
      assert.deepEqual(first.stats(), second.stats());
      second.close();
      assertError("generator_closed", () => first.generate());
      assertAllDiffer([...made, make(number).generate()], 11);
    });

    test(`${option}: generators with other options are rejected, and the option is named`, () => {
      const number = nextNumber++;
      const clock = () => Date.now();
      const first = make(number, { clock });
      assert.deepEqual(make(number, { clock }).stats(), first.stats());
      const others = { clock: () => Date.now(), maxWait: 5, onExhausted: "error", onStall() {} };
      for (const [other, value] of Object.entries(others))
        assertInUse(other, () => make(number, { clock, [other]: value }));
      const { message } = assertInUse("clock", () => make(number));
      assert.match(message, /another `clock`: use equal options, extend or close that generator first, or/);
      first.close();
      assert(make(number, { maxWait: 5000 }).generate());
    });

    test(`${option}: generators with a clock for tests take no part`, () => {
      const number = nextNumber++;
      const kept = [1, 2].map(() => make(number, { testClock: () => NOW }));
      kept[0].close();
      assert(kept[1].generate() && make(number).generate());
    });
  }

  test("worker IDs, sequences and windows that differ do not conflict", () => {
    const [partition, machine] = [nextNumber++, nextNumber++];
    const kept = [snos(partition, { sequenceMax: 999 }), snos(partition, { sequenceMin: 1000 })];
    assertInUse("sequenceMin", () => snos(partition, { sequenceMin: 999 }));
    kept.push(sonyflakes(machine, { window: [NOW, new Date(LATER)] }));
    kept.push(sonyflakes(machine, { window: [LATER, LATER + 1000] }));
    assert.deepEqual(sonyflakes(machine, { window: [new Date(NOW), LATER] }).stats(), kept[2].stats());
    assertInUse("window", () => sonyflakes(machine));
    // The window has ended.
    kept.push(snos(machine, { window: [NOW - 1000, NOW] }), snos(machine));
    assert.equal(kept.length, 6);
  });

  test("layouts are compared by their values, and ranges by their worker IDs", () => {
    const machine = nextNumber++;
    const kept = [
      sonyflakes(machine),
      discord(9, { range: ["worker", 0, 3] }),
      discord(9, { range: ["worker", 4n, 6] }),
    ];
    const copy = layout.Layout.fromJson(kept[0].layout.toJson());
    const equal = new layout.Generator(copy, { bindables: { machine: BigInt(machine) } });
    assert.deepEqual(equal.stats(), kept[0].stats());
    kept.push(discord(9, { range: ["worker", 8, 8] }), discord(10, { range: ["worker", 0, 8] }));
    kept.push(discord(9, { bindables: { worker: 12 } }));
    assertInUse("bindables", () => discord(9, { range: ["worker", 6, 7] }));
    assertInUse("bindables", () => discord(9, { bindables: { worker: 5n } }));
    assertInUse("bindables", () => discord(9, { range: ["worker", 12, 13] }));
    // Values that the caller passes for each ID are not compared.
    kept.push(new layout.Generator(copy), new layout.Generator(copy, { maxWait: 5 }));
    assert.equal(kept.length, 8);
  });

  test("grants conflict if their nodes, secrets and times do", () => {
    const [first, second] = [nextNumber++, nextNumber++];
    const kept = [flakes(first), flakes(first, START, END, new Uint8Array(16)), flakes([first + 10, second + 10])];
    assertInUse("grant", () => flakes([first - 1, first]));
    assertInUse("grant", () => flakes(first + 10));
    assertError("invalid_secret", () => flakes(first, START, END, new Uint8Array(5)));
    const [middle, late] = [LATER / 1000 - 50, LATER / 1000];
    kept.push(flakes(second, START, middle), flakes(second, late, END));
    kept[3].extendGrant(new randflake.Grant(second, START, late));
    assertInUse("grant", () => kept[3].extendGrant(new randflake.Grant(second, START, late + 1)));
    assertInUse("grant", () => flakes(second, START, late));
    assert.equal(kept[3].grant.end, late);
  });

  test("an extension does not reach another generator's time", () => {
    const partition = nextNumber++;
    const [first, second] = [
      snos(partition, { window: [NOW, LATER] }),
      snos(partition, { window: [LATER, LATER + 1000] }),
    ];
    assertInUse("partition", () => first.extendWindow(LATER + 4));
    first.extendWindow(LATER);
    second.close();
    first.extendWindow(new Date(LATER + 4));
    assertInUse("window", () => snos(partition, { window: [LATER, LATER + 1000] }));
  });

  for (const how of ["restore", "importOriginal"])
    test(`${how}: a snapshot is not restored beside a live generator`, () => {
      const partition = nextNumber++;
      for (const one of [snos(partition), new sno.Generator()]) {
        one.generate();
        const snapshot = one.close();
        const [high, low] = snapshot.partition;
        const restored = sno.Generator[how](snapshot);
        assertInUse("partition", () => sno.Generator[how](snapshot));
        assertInUse("partition", () => snos(high * 256 + low));
        restored.close();
      }
      const state = sonyflakes(partition).close();
      const restore = () =>
        layout.Generator.restore(sonyflakes(partition + 1).layout, state, { bindables: { machine: partition } });
      const restored = restore();
      assertInUse("bindables", restore);
      restored.close();
    });

  test("many generators are made as fast as few", () => {
    // A search would compare each new generator with all others.
    const kept = Array.from({ length: 20_000 }, (_, node) => flakes(node));
    assert.equal(kept.length, 20_000);
  });

  test("a server that creates a generator for each request repeats no ID", async () => {
    const number = nextNumber++;
    const made = () => [
      ...Object.values(makers).map((make) => String(make(number).generate())),
      new polyflake.hotguid.Generator().generate(),
    ];
    const server = createServer((_, response) => setImmediate(() => response.end(JSON.stringify(made())))).listen(0);
    await once(server, "listening");
    const url = `http://127.0.0.1:${server.address().port}`;
    const ids = [];
    const client = async () => {
      for (let k = 0; k < 10; k++) ids.push(...(await (await fetch(url)).json()));
    };
    await Promise.all(Array.from({ length: 20 }, client));
    server.close();
    assertAllDiffer(ids, 20 * 10 * 5);
  });

  /** Runs a program in a new Node process, and asserts its output. */
  const assertPrints = (expected, program) => {
    const source = `import { sno } from "polyflake/${name}";
      import { setTimeout as after } from "node:timers/promises";
      let readings = 0;
      const clock = () => (readings++, Date.now());
      const make = (maxWait) => new sno.Generator({ partition: 1, maxWait, clock });
      ${program}`;
    const options = { encoding: "utf8", cwd: new URL(".", import.meta.url) };
    const flags = ["--expose-gc", "--input-type=module", "--eval", source];
    const { status, stdout, stderr } = spawnSync(process.execPath, flags, options);
    assert.deepEqual([status, stdout], [0, expected], stderr);
  };

  test("a collected generator is continued with equal options, and frees its worker ID otherwise", () =>
    assertPrints(
      "2 true true true\n",
      `
      const { log } = console;
      // The first ID of a generator waits for a tick, which a continued one does not.
      const made = [(() => make(2000).generate())()];
      await after(5);
      gc();
      made.push(make(2000).tryGenerate());
      const before = readings;
      new sno.Generator({ partition: 2 }).generate();
      const isUnread = readings === before;
      await after(5);
      gc();
      const other = make(3000);
      const isLater = other.generate() > made[1];
      log(new Set(made).size, isLater, isUnread, readings > before);`,
    ));

  test("a generator can be shared without weak references", () =>
    assertPrints(
      "2 worker_id_in_use\n",
      `
      delete globalThis.WeakRef;
      let code;
      const made = [make(2000).generate(), make(2000).generate()];
      try { make(3000); } catch (error) { code = error.code; }
      console.log(new Set(made).size, code);`,
    ));
});

describe("threads", () => {
  const start = (workerData) => new Worker(fileURLToPath(new URL("storm.mjs", import.meta.url)), { workerData });
  const idsOf = async (workerData) => (await once(start(workerData), "message"))[0];

  test("threads share generators with equal options, unless they have callbacks", async () => {
    const { sno } = await import("polyflake/native");
    const [partition, ofClock] = [nextNumber++, nextNumber++];
    const ids = new sno.Generator({ partition });
    const withClock = new sno.Generator({ partition: ofClock, clock: () => Date.now() });
    const own = [...ids.generateMany(10), withClock.generate()];
    const { made, errors } = await idsOf({ partition, ofClock });
    assertAllDiffer([...own, ...made], 21);
    assert.deepEqual(errors, [
      ["worker_id_in_use", "partition"],
      ["worker_id_in_use", "maxWait"],
    ]);
    // The thread has closed the generator.
    assertError("generator_closed", () => ids.generate());
  });

  /** `POLYFLAKE_STORM` is the number of generators, of which four partitions have at most one each. */
  test("a storm of generators in eight threads makes no duplicate", async () => {
    const count = Number(process.env.POLYFLAKE_STORM ?? 8000);
    const first = 60_000;
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, seed) => idsOf({ seed: seed + 1, count: count / 8, first })),
    );
    const ids = made.flat();
    assert(ids.length > count / 10, `${ids.length} IDs`);
    assertAllDiffer(ids, ids.length);
  });
});
