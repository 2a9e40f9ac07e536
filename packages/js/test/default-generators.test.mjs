// Tests that the default generator behind `generate` can be replaced, and that mocked time affects it only through a
// clock.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { afterEach, test } from "node:test";
import { assertError, NOW } from "./assertions.mjs";
import { onEachMachine } from "./machines.mjs";

onEachMachine(({ hotguid, sno, uuid7 }, name) => {
  const families = {
    sno: {
      family: sno,
      timeOf: (id) => sno.parse(id).unixMs,
      make: (options) => new sno.Generator({ partition: 7, ...options }),
    },
    hotguid: {
      family: hotguid,
      timeOf: (id) => hotguid.timestamp(id) * 1000,
      make: (options) => new hotguid.Generator(options),
    },
    uuid7: {
      family: uuid7,
      timeOf: uuid7.unixMs,
      make: (options) => new uuid7.Generator(options),
    },
  };
  afterEach(() => [sno, hotguid, uuid7].forEach(({ setDefaultGenerator }) => setDefaultGenerator(undefined)));

  for (const [of, { family, timeOf, make }] of Object.entries(families)) {
    test(`${of}: each function uses the default generator that was set`, async () => {
      const own = make({ testClock: () => NOW });
      family.setDefaultGenerator(own);
      const ids = [family.generate(), await family.generateAsync(), ...family.generateMany(2)];
      ids.push(...(await family.generateManyAsync(2)));
      assert.equal(new Set(ids).size, 6);
      for (const id of ids) assert.equal(timeOf(id), NOW);
      own.close();
      assertError("generator_closed", () => family.generate());
      family.setDefaultGenerator(undefined);
      assert(Math.abs(timeOf(family.generate()) - Date.now()) < 60_000);
    });

    test(`${of}: an invalid default generator is rejected without side effects`, () => {
      family.setDefaultGenerator(make({ testClock: () => NOW }));
      const other = of === "sno" ? new hotguid.Generator() : new sno.Generator();
      for (const value of [null, 1, {}, family.Generator, Object.create(family.Generator.prototype), other]) {
        assertError("invalid_type", () => family.setDefaultGenerator(value), { field: "generator" });
      }
      assert.equal(timeOf(family.generate()), NOW);
    });
  }

  test("the options of the default generator apply to its IDs", () => {
    sno.setDefaultGenerator(new sno.Generator({ partition: 9, metabyte: 3 }));
    assert.equal(sno.parse(sno.generate()).partition, 9);
    assert.deepEqual([sno.generate(), sno.generate(4)].map(sno.metabyte), [3, 4]);
  });

  test("undefined installs a new default generator with a new partition", () => {
    const partitions = Array.from({ length: 20 }, () => {
      sno.setDefaultGenerator(undefined);
      return sno.parse(sno.generate()).partition;
    });
    assert.equal(new Set(partitions).size, 20);
    const machines = Array.from({ length: 20 }, () => {
      hotguid.setDefaultGenerator();
      return String(hotguid.parts(hotguid.generate()).machine);
    });
    assert.equal(new Set(machines).size, 20);
  });

  test("mocked dates do not affect generators without a clock", () => {
    const script = `
      const { hotguid, layout, sno } = await import("polyflake/${name}");
      const real = Date.now;
      const near = (ms) => Math.abs(ms - real()) < 60_000;
      const stalling = new sno.Generator({ onStall() {} });
      const discord = new layout.Generator(layout.Layout.preset("discord", { worker: 1, process: 1 }));
      const times = () => [sno.parse(sno.generate()).unixMs, hotguid.timestamp(hotguid.generate()) * 1000, sno.parse(stalling.generate()).unixMs,
        Number(discord.layout.parse(discord.generate()).unixMs)];
      const all = [];
      for (const year of [2030, 2020, 2030, 2025]) {
        Date.now = () => Date.UTC(year, 0, 1);
        all.push(...times());
        Date.now = real;
        all.push(...times());
        const Real = Date;
        globalThis.Date = class extends Real { static now() { return Real.UTC(year, 0, 1); } };
        all.push(...times());
        globalThis.Date = Real;
      }
      Date.now = () => Date.UTC(2030, 0, 1);
      sno.setDefaultGenerator(new sno.Generator({ testClock: () => Date.now() }));
      console.log(all.length, all.every(near), sno.parse(sno.generate()).timestamp.getUTCFullYear());`;
    const options = { encoding: "utf8", cwd: new URL(".", import.meta.url) };
    assert.equal(
      execFileSync(process.execPath, ["--input-type=module", "--eval", script], options).trim(),
      "48 true 2030",
    );
  });
});
