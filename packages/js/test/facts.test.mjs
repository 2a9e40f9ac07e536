// Statements of the documentation on edge cases.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { onEachMachine } from "./machines.mjs";
import { NOW, refused } from "./refusals.mjs";

onEachMachine(({ hotguid, layout, randflake, sno, sparx64 }) => {
  const grant = new randflake.Grant(1, 1_730_000_000, 2_803_741_824);
  const secret = new Uint8Array(16);
  const sonyflake = layout.Layout.preset("sonyflake");
  const families = {
    sno: (options) => new sno.Generator({ partition: 7, ...options }),
    hotguid: (options) => new hotguid.Generator(options),
    layout: (options) => new layout.Generator(sonyflake, { bindables: { machine: 7 }, ...options }),
    randflake: (options) => new randflake.Generator(grant, secret, options),
  };

  test("a secret of zeros is taken", () => {
    const id = families.randflake({ clock: () => NOW }).generate();
    assert.equal(new randflake.Codec(secret).inspect(id).timestamp, NOW / 1000);
    assert.equal(new sparx64.Sparx64(secret).encrypt(new Uint8Array(8)).length, 8);
  });

  test("an ID of a given time may lie outside the window", () => {
    const ids = families.sno({ window: [NOW, NOW + 1000], clock: () => NOW });
    for (const at of [NOW - 1_000_000, NOW + 1_000_000]) assert.equal(sno.parse(ids.generateAt(at)).unixMs, at);
  });

  test("a window that is not there is not extended", () => {
    for (const family of ["sno", "hotguid", "layout"]) {
      let now = NOW;
      const ids = families[family]({ clock: () => now });
      ids.extendWindow(NOW + 1000);
      now = NOW + 5000;
      ids.generate();
    }
  });

  test("a reading far in the future is believed", () => {
    const wild = Date.UTC(2050, 0, 1);
    for (const [family, make] of Object.entries(families)) {
      let now = NOW;
      const ids = make({ clock: () => now, maxWait: 0 });
      for (now of [NOW, wild]) ids.generate();
      now = NOW;
      if (family === "sno") {
        assert.equal(sno.parse(ids.generate()).unixMs, NOW);
        now = wild;
        ids.generate();
        now = NOW;
        refused("clock_behind", () => ids.generate(), { retryAt: wild });
      } else if (family === "hotguid") {
        assert.equal(hotguid.timestamp(ids.generate()), wild / 1000);
      } else {
        refused("clock_behind", () => ids.generate(), { retryAt: wild });
      }
    }
  });
});

test("two versions in one process have a shared generator each, under partitions of one source", () => {
  const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
  try {
    const home = new URL("..", import.meta.url);
    const copies = ["one", "other"].flatMap((copy) => {
      for (const part of ["dist", "prebuilds", "package.json"])
        cpSync(new URL(part, home), join(folder, copy, part), { recursive: true });
      return ["node", "wasm"].map((entry) => join(folder, copy, "dist/esm", `${entry}.js`));
    });
    const script = `
      const copies = [];
      for (const path of ${JSON.stringify(copies)}) copies.push(await import(path));
      const made = [...copies, ...copies].map(({ sno }) => sno.parse(sno.generate()).partition);
      console.log(JSON.stringify([copies.map(({ backend }) => backend()), made.map((partition) => partition ^ made[0])]));`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
    assert.deepEqual(JSON.parse(printed), [
      ["native", "wasm", "native", "wasm"],
      [0, 1, 2, 3, 0, 1, 2, 3],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
