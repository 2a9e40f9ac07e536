// Runs the examples and checks their output.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { sno } from "polyflake/native";
import { browse, REPOSITORY, skipReason } from "./browser.mjs";

/** Returns an example's output. */
function runExample(name) {
  const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(join(REPOSITORY, "packages/js"), join(folder, "node_modules/polyflake"), "junction");
    cpSync(join(REPOSITORY, "examples/js", name), join(folder, name));
    return execFileSync(process.execPath, [name], { cwd: folder, encoding: "utf8" });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The expected output of each example. */
const EXAMPLES = {
  "polymorphic.mjs": /\n-> Order, made \d{4}-\d\d-\d\dT[\d:.]+Z\n$/,
  "record-versions.mjs": /  version 2\na draft -> a better draft -> the final text\n$/,
  "shard-routing.mjs": /  ->  region 0, shard \d+: a compass\n.*  ->  region 1, shard \d+: a nanosecond\n/,
  "well-known-ids.mjs":
    /^2022-06-28T16:07:40.105Z  number 0 of \{"datacenter":11,"worker":26\}\n2016-04-30T11:18:25.796Z  number 7 of/,
};

test("every example is run", () => {
  assert.deepEqual(readdirSync(join(REPOSITORY, "examples/js")).sort(), Object.keys(EXAMPLES));
});

for (const [name, printed] of Object.entries(EXAMPLES)) {
  test(name, () => assert.match(runExample(name), printed));
}

describe("the web page", { skip: skipReason }, () => {
  let page;
  let close;
  const faults = [];

  before(async () => {
    ({ page, close } = await browse("examples/web/index.html"));
    page.on("pageerror", (error) => faults.push(error));
    await page.waitForSelector("#ids tr");
  });

  after(async () => {
    if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT, fullPage: true });
    await close();
    assert.deepEqual(faults, []);
  });

  const rows = () => page.$$eval("#ids tr", (trs) => trs.map((tr) => [...tr.cells].map((cell) => cell.textContent)));

  test("shows the type of each ID of the sample", async () => {
    const kinds = (await rows()).map(([where, , kind, metabyte]) => [where, kind, metabyte]);
    assert.deepEqual(kinds, [
      ["/0/id", "payment", "3"],
      ["/0/paid/id", "order", "2"],
      ["/0/paid/buyer", "user", "1"],
      ["/1/id", "unknown", "0"],
    ]);
  });

  test("reads pasted JSON and reports invalid input", async () => {
    await page.fill("#json", '{"a/b": ["a7rdmuv326nct5if", "A7RDMUV326NCT5IF"]}');
    const { timestamp, partition, sequence } = sno.parse("a7rdmuv326nct5if");
    const made = timestamp.toISOString().slice(0, -1).replace("T", " ");
    assert.deepEqual(await rows(), [["/a~1b/0", "a7rdmuv326nct5if", "user", "1", made, `${partition}`, `${sequence}`]]);
    await page.fill("#json", "[");
    assert.match(await page.textContent("#problem"), /^Not JSON/);
    assert.deepEqual(await rows(), []);
    await page.fill("#json", JSON.stringify({ id: "93bm44ab22flxhjb" }));
    assert.equal(await page.textContent("#problem"), "");
    assert.equal(await page.textContent("#found"), "1 ID found");
  });

  test("generates IDs of the selected type", async () => {
    await page.selectOption("#kind", "2");
    await page.fill("#count", "500");
    await page.click("button");
    const made = (await page.textContent("#made")).split("\n");
    assert.equal(new Set(made).size, 500);
    await page.fill("#json", JSON.stringify(made));
    const found = await rows();
    assert.equal(found.length, 500);
    assert(found.every(([, , kind]) => kind === "order"));
    await page.fill("#count", "3");
    await page.click("button");
    await page.fill("#json", JSON.stringify({ orders: made.slice(0, 3) }, null, 2));
  });

  for (const width of [320, 390, 768, 880, 900, 1280]) {
    test(`fits ${width} pixels, with each ID on one line`, async () => {
      await page.setViewportSize({ width, height: 900 });
      const { id, ...made } = {
        id: sno.generate(1),
        [`a-${"rather-long-".repeat(9)}name`]: sno.generate(2),
        [`b${"x".repeat(90)}`]: [sno.generate(3)],
      };
      await page.fill("#json", JSON.stringify({ id, ...made }));
      await page.fill("#count", "3");
      await page.click("button");
      const measured = await page.evaluate(() => {
        const heightOf = (element) => {
          const range = document.createRange();
          range.selectNodeContents(element);
          return range.getBoundingClientRect().height;
        };
        const heights = Array.from(document.querySelectorAll("td:not(:first-child)"), heightOf);
        const made = document.getElementById("made");
        const lineOf = (element) => Number.parseFloat(getComputedStyle(element).lineHeight);
        return {
          overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
          cells: heights.length,
          lines: Math.max(...heights) / lineOf(document.querySelector("td")),
          made: heightOf(made) / lineOf(made),
        };
      });
      const { overflow, cells, lines, made: linesMade } = measured;
      assert.deepEqual([overflow, cells, Math.round(lines), Math.round(linesMade)], [0, 18, 1, 3]);
    });
  }
});
