// Tests default partitions, which are reserved in a table. Generators share this table across copies of the package,
// backends and threads.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";

/** Runs a script in a new Node process, and parses its output as JSON. */
function runScript(source) {
  const options = { encoding: "utf8", cwd: new URL(".", import.meta.url), maxBuffer: 1 << 24 };
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "--eval", source], options));
}

/** Makes all random bytes constant, so that generators differ only because of the shared table. */
const CONSTANT_RANDOM =
  'Object.defineProperty(globalThis, "crypto", { value: { getRandomValues: (bytes) => bytes } });';

/**
 * Returns a script that generates one ID with each of many generators while a hundred others stay in use, and prints
 * the number of distinct IDs.
 */
const consecutiveScript = (count) => `
  const generators = Array.from({ length: 100 }, () => new sno.Generator());
  const made = new Set(generators.map(({ generate }) => generate()));
  for (let k = 0; k < ${count}; k++) {
    made.add(new sno.Generator().generate());
    made.add(generators[k % 100].generate());
  }
  console.log(made.size);`;

for (const machine of ["native", "wasm"]) {
  describe(machine, () => {
    test("70,000 consecutive generators never fail or collide with a live one", () => {
      const script = `const { sno } = await import("polyflake/${machine}"); ${consecutiveScript(70_000)}`;
      assert.equal(runScript(script), 140_100);
    });

    test("partitions_exhausted reports when one is free", () => {
      const script = `
        const { sno } = await import("polyflake/${machine}");
        const start = Date.UTC(2026, 0, 1);
        let now = start;
        const clock = () => now;
        const generators = Array.from({ length: 65536 }, () => new sno.Generator({ testClock: clock }));
        const partitions = new Set(generators.map((ids) => (ids.generate(), ids.partition)));
        const late = new sno.Generator({ testClock: clock });
        const failure = () => {
          try { return late.generate().length; } catch ({ code, retryAt, message }) { return [code, retryAt - start, message]; }
        };
        const found = [partitions.size, failure()];
        now += 4;
        for (const ids of generators) ids.generate();
        found.push(failure());
        now += 4;
        console.log(JSON.stringify([...found, failure()]));`;
      const [taken, first, second, third] = runScript(script);
      assert.deepEqual(
        [taken, ...first.slice(0, 2), ...second.slice(0, 2), third],
        [65536, "partitions_exhausted", 4, "partitions_exhausted", 8, 16],
      );
      assert.match(first[2], /^all default partitions are reserved: retry at /);
    });

    test("600 generators of 20 threads with equal random bytes differ", () => {
      const script = `
        import { Worker } from "node:worker_threads";
        ${CONSTANT_RANDOM}
        const { sno } = await import("polyflake/${machine}");
        sno.generate();
        const source = \`
          ${CONSTANT_RANDOM}
          import("polyflake/${machine}").then(({ sno }) => {
            const ids = Array.from({ length: 30 }, () => new sno.Generator());
            require("node:worker_threads").parentPort.postMessage(ids.map(({ generate }) => sno.parse(generate()).partition));
            setInterval(() => {}, 1000);
          });\`;
        const workers = Array.from({ length: 20 }, () => new Worker(source, { eval: true, execArgv: [] }));
        const made = await Promise.all(workers.map((worker) => new Promise((done, fail) => worker.on("message", done).on("error", fail))));
        console.log(new Set(made.flat()).size);
        process.exit();`;
      assert.equal(runScript(script), 600);
    });

    test("a configured partition is never shared with the default generator that reserved it before", () => {
      const script = `
        const { sno } = await import("polyflake/${machine}");
        let now = Date.UTC(2026, 0, 1);
        const clock = () => now;
        const holder = new sno.Generator({ testClock: clock });
        const made = new Set([holder.generate()]);
        const { partition } = holder;
        const configured = new sno.Generator({ partition, sequenceMin: 0, testClock: clock, onExhausted: "error" });
        const failure = () => {
          try { return configured.generate().length; } catch ({ code, retryAt }) { return [code, retryAt - now]; }
        };
        const first = failure();
        for (let k = 0; k < 100; k++) made.add(holder.generate());
        now += 4;
        for (let k = 0; k < 100; k++) made.add(configured.generate()).add(holder.generate());
        console.log(JSON.stringify([first, made.size, holder.partition === partition]));`;
      assert.deepEqual(runScript(script), [["sequence_exhausted", 4], 301, false]);
    });

    test("a closed generator's partition stays reserved for its snapshot", () => {
      const script = `
        const { sno } = await import("polyflake/${machine}");
        let now = Date.UTC(2026, 0, 1);
        const closed = new sno.Generator({ testClock: () => now });
        const { partition } = sno.parse(closed.generate());
        const [high, low] = closed.close().partition;
        const others = new Set();
        for (let k = 0; k < 66000; k++, now += 4) others.add(sno.parse(new sno.Generator({ testClock: () => now }).generate()).partition);
        console.log(JSON.stringify([partition === high * 256 + low, others.size, others.has(partition)]));`;
      assert.deepEqual(runScript(script), [true, 65_535, false]);
    });
  });
}

describe("copies of the package", () => {
  for (const [first, second] of [
    ["native", "wasm"],
    ["wasm", "native"],
  ]) {
    test(`${second} reserves from the table of ${first} if that was loaded first`, () => {
      const script = `
        ${CONSTANT_RANDOM}
        const first = (await import("polyflake/${first}")).sno;
        const generators = Array.from({ length: 100 }, () => new first.Generator());
        const made = new Set(generators.map(({ generate }) => generate()));
        const { sno } = await import("polyflake/${second}");
        for (let k = 0; k < 70000; k++) {
          made.add(new sno.Generator().generate());
          made.add(generators[k % 100].generate());
        }
        const both = [...generators, ...Array.from({ length: 100 }, () => new sno.Generator())];
        console.log(JSON.stringify([made.size, new Set(both.map((ids) => (ids.generate(), ids.partition))).size]));`;
      assert.deepEqual(runScript(script), [140_100, 200]);
    });
  }

  /**
   * Creates a generator that uses a partition table from another copy of the package. Returns the generator's
   * partition, or the code or message of the error.
   */
  const partitionWithTable = (machine, table) =>
    runScript(`
      globalThis[Symbol.for("polyflake.partitions")] = ${table};
      const { sno } = await import("polyflake/${machine}");
      const ids = new sno.Generator();
      try { ids.generate(); console.log(ids.partition); } catch (error) { console.log(JSON.stringify(error.code ?? error.message)); }`);

  for (const machine of ["native", "wasm"]) {
    test(`${machine} validates the table of another copy`, () => {
      const table = (next, entry = "0") => `{ next: () => ${next}, entry: () => ${entry}, swap: () => true }`;
      assert.equal(partitionWithTable(machine, table("7")), 7);
      assert.equal(partitionWithTable(machine, table("'7'")), "invalid_type");
      assert.equal(partitionWithTable(machine, table("70000")), "out_of_range");
      assert.equal(partitionWithTable(machine, table("(() => { throw new Error('gone'); })()")), "gone");
      assert.equal(partitionWithTable(machine, table("7", "(() => { throw new Error('gone'); })()")), "gone");
      assert.equal(partitionWithTable(machine, table("7", "-1")), "partitions_exhausted");
      for (const none of ["'no table'", "() => 7", "{ next: () => 7 }", "null"])
        assert.equal(typeof partitionWithTable(machine, none), "number");
    });

    test(`${machine} reserves no partition if the clock fails`, () => {
      const script = `
        let looked = 0;
        globalThis[Symbol.for("polyflake.partitions")] = { next: () => (looked += 1), entry: () => 0, swap: () => true };
        const { sno } = await import("polyflake/${machine}");
        let reading = NaN;
        const ids = new sno.Generator({ testClock: () => reading });
        const codes = new Set();
        for (let k = 0; k < 100; k++) try { ids.generate(); } catch ({ code }) { codes.add(code); }
        reading = Date.UTC(2026, 0, 1);
        ids.generate();
        console.log(JSON.stringify([looked, ids.partition, ...codes]));`;
      assert.deepEqual(runScript(script), [1, 1, "clock_failed"]);
    });
  }
});
