// Tests the built page that identifies IDs. Opens the page as a file, and checks its results and its accessibility.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { BROWSERS, launch, openPage } from "./browsers.mjs";

const BUILD_FOLDER = join(import.meta.dirname, "../../../target/site");
const PAGE = pathToFileURL(join(BUILD_FOLDER, "dist/inspect/index.html")).href;
const AXE_SCRIPT = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const WIDTHS = [360, 768, 1280, 3840];

/**
 * Returns the violations that axe-core finds. The browser driver injects axe-core's script, so the page's content
 * security policy does not block it.
 */
async function violations(page) {
  await page.evaluate(AXE_SCRIPT);
  const found = await page.evaluate(() => globalThis.axe.run());
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(", ")}`);
}

const text = (page, selector) => page.$eval(selector, (element) => element.textContent);

/** Simulates a reader who replaces the text in the box by pasting an ID. */
async function paste(page, id) {
  await page.click("#id", { count: 3 });
  await page.keyboard.press("Backspace");
  await page.type("#id", id);
}

for (const [name, path] of Object.entries(BROWSERS)) {
  describe(`the page in ${name}`, { skip: path ? false : `no ${name} on this machine` }, () => {
    let browser;
    before(async () => (browser = await launch(name)));
    after(() => browser?.close());

    const opened = async (fragment = "", options = {}) => {
      const page = await openPage(browser, `${PAGE}${fragment}`, options);
      await page.waitForSelector("#fields table");
      return page;
    };

    test("identifies the preset example", async () => {
      const page = await opened();
      assert.match(await text(page, "#sentence"), /^This is probably a Discord snowflake, made \d+ years ago/);
      assert.equal(await text(page, "#bits .worker_id"), "00001");
      assert.equal(new URL(page.url()).hash, "");
      assert(!(await text(page, "#others")).includes("your layout"), "a layout that nobody drew");
      assert((await page.$$("#others li")).length >= 1);
      assert.deepEqual(page.faults, []);
      await page.close();
    });

    test("identifies a Discord ID, a sno and a Hot Guid", async () => {
      const page = await opened();
      for (const [id, named] of [
        ["1442107214213808250", "a Discord snowflake"],
        ["9q9vvh8k29fx4j3e", "a sno"],
        ["69231e2a-5f3b-91c4-d8a7-000105000000", "a Hot Guid"],
      ]) {
        await paste(page, id);
        assert((await text(page, "#sentence")).includes(named), `${id}: ${await text(page, "#sentence")}`);
        assert.equal(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("id"), id);
      }
      await paste(page, "<img src=x>");
      assert.equal(await text(page, "#sentence"), "This is no ID of a known format.");
      assert.equal((await page.$$("#fields table")).length, 0);
      assert.deepEqual(page.faults, []);
      await page.close();
    });

    test("reads several lines and shows each with a button", async () => {
      const page = await opened(`#id=${encodeURIComponent("175928847299117063\n9q9vvh8k29fx4j3e\n\nhello")}`);
      const readCells = () =>
        page.$$eval("#lines tbody tr", (rows) =>
          rows.map(({ innerText }) => innerText.split("\t").map((cell) => cell.trim())),
        );
      const [discord, sno, none] = await readCells();
      assert.match(discord.join(" "), /^175928847299117063 Discord snowflake, likely 2016-04-30T11:18:25\.796Z$/);
      assert.match(sno.join(" "), /^9q9vvh8k29fx4j3e sno, certain 2026-/);
      assert.deepEqual(none.slice(0, 2), ["hello", "unknown format"]);
      assert.match(await text(page, "#sentence"), /Discord snowflake.*only the source of the ID can tell\.$/);
      await page.click("#lines tbody tr:nth-child(2) button");
      assert.match(await text(page, "#sentence"), /^This is a sno, /);
      assert.equal(await page.evaluate(() => document.activeElement.textContent), "9q9vvh8k29fx4j3e");
      assert.equal(
        await page.$eval("#lines [aria-pressed=true]", ({ textContent }) => textContent),
        "9q9vvh8k29fx4j3e",
      );
      assert.deepEqual(page.faults, []);
      await page.close();
    });

    test("shows a time in UTC and in the local time zone, and copies it", async () => {
      const page = await opened();
      const time = await page.$eval("#fields tbody tr:first-child", ({ innerText }) => innerText);
      assert.match(time, /^time\s+creation time\s+42\s+2016-04-30T11:18:25\.796Z\s+.*2016.*, in your time zone$/s);
      await page.evaluate(() => (navigator.clipboard.writeText = async (text) => (window.copied = text)));
      await page.click("#copies button");
      await page.waitForFunction(() => document.querySelector("#copies button").textContent === "Copied");
      assert.equal(await page.evaluate(() => window.copied), "2016-04-30T11:18:25.796Z");
      await page.click("#make button");
      await page.click("#made-copies button");
      await page.waitForFunction(() => window.copied.split("\n").length === 3);
      const made = await page.$$eval("#made button", (all) => all.map(({ textContent }) => textContent));
      assert.equal(await page.evaluate(() => window.copied), made.join("\n"));
      assert.deepEqual(page.faults, []);
      await page.close();
    });

    test("suggests the intended ID and links back to the site", async () => {
      const page = await opened();
      await paste(page, "9Q9VVH8K29FX4J3E");
      assert.match(await text(page, "#sentence"), /did you mean 9q9vvh8k29fx4j3e, a sno\?$/);
      const home = await page.$eval(".site .home", ({ href, textContent }) => [href, textContent]);
      assert.deepEqual(home, [new URL("../", PAGE).href, "polyflake"]);
      await page.close();
    });

    test("generates IDs of each format and identifies them", async () => {
      const page = await opened();
      for (const [family, named] of [
        ["sno", "sno"],
        ["hotguid", "Hot Guid"],
        ["uuid7", "UUID v7"],
        ["discord", "Discord snowflake"],
        ["randflake", ""],
        ["own", "your layout"],
      ]) {
        await page.select("#family", family);
        await page.focus("#count");
        await page.keyboard.press("Enter");
        const made = await page.$$eval("#made button", (buttons) => buttons.map(({ textContent }) => textContent));
        assert.equal(new Set(made).size, 3, family);
        assert((await text(page, "#sentence")).includes(named), `${family}: ${await text(page, "#sentence")}`);
      }
      await page.$eval("#count", (input) => (input.value = ""));
      await page.click("#make button");
      assert.deepEqual(page.faults, []);
      await page.close();
    });

    test("draws a layout and stores it in the URL fragment", async () => {
      const page = await opened();
      await page.select("#preset", "sonyflake");
      assert.match(await text(page, "#facts"), /one generator25,600.*IDs exceed 2\^53/s);
      await page.click("#rows li:nth-child(2) input[type=number]", { count: 3 });
      await page.type("#rows li:nth-child(2) input[type=number]", "38");
      assert.match(await text(page, "#problem"), /^The layout is not valid yet: .* 1 bits are left\.$/);
      assert.equal((await page.$$("#facts dd")).length, 0);
      await page.click("#add");
      assert.equal(await text(page, "#problem"), "");
      assert.match(await page.$eval("#json", (area) => area.value), /"bits": 38/);
      const again = await opened(new URL(page.url()).hash);
      assert.equal(await again.$eval("#json", (area) => area.value), await page.$eval("#json", (area) => area.value));
      // The page also responds to a fragment that the reader types or pastes while the page is open.
      const discord = { id: "integer", bits: 64, fields: [{ kind: "sequence", bits: 64 }] };
      await again.evaluate(
        (hash) => (location.hash = hash),
        `id=1&layout=${encodeURIComponent(JSON.stringify(discord))}`,
      );
      await again.waitForFunction(() => document.querySelectorAll("#rows li").length === 1);
      assert.equal(await again.$eval("#id", ({ value }) => value), "1");
      assert.deepEqual([...page.faults, ...again.faults], []);
      await page.close();
      await again.close();
    });

    test("accepts a layout's JSON and reports if IDs stay below 2^53", async () => {
      const page = await opened();
      const fields = [
        { kind: "unused", bits: 12 },
        { kind: "timestamp", bits: 32, tick: "1s", epoch_ms: 0 },
        { kind: "sequence", bits: 20 },
      ];
      const set = (json) =>
        page.$eval("#json", (area, json) => ((area.value = json), area.dispatchEvent(new Event("input"))), json);
      await set(JSON.stringify({ id: "integer", bits: 64, fields }));
      assert.match(await text(page, "#facts"), /1,048,576.*Every ID is below 2\^53/s);
      assert.equal((await page.$$("#rows li")).length, 3);
      await set("{");
      assert.match(await text(page, "#problem"), /^The layout is not valid yet: /);
      assert.deepEqual(page.faults, []);
      await page.close();
    });

    test("sends no requests and is not permitted to", async () => {
      const page = await opened();
      const asked = await page.evaluate(() =>
        fetch("data:text/plain,hello").then(
          () => "answered",
          () => "refused",
        ),
      );
      assert.equal(asked, "refused");
      assert.deepEqual(
        await page.evaluate(
          () => performance.getEntriesByType("resource").filter(({ name }) => !name.startsWith("data:")).length,
        ),
        0,
      );
      await page.close();
    });

    test("all controls can be reached by keyboard in order", async () => {
      const page = await opened();
      const reached = [];
      for (let k = 0; k < 80; k += 1) {
        await page.keyboard.press("Tab");
        const found = await page.evaluate(() => {
          const { id, tagName, textContent } = document.activeElement;
          return id || (tagName === "BUTTON" ? textContent : "");
        });
        reached.push(found);
      }
      const at = ["id", "Hot Guid", "family", "count", "Generate IDs", "preset", "add", "json"].map((name) =>
        reached.indexOf(name),
      );
      assert(
        at.every((place, k) => place >= 0 && (k === 0 || place > at[k - 1])),
        reached.join(" "),
      );
      await page.close();
    });

    for (const dark of name === "chrome" ? [false, true] : [false]) {
      test(`is accessible and fits ${WIDTHS.join(", ")} pixels in ${dark ? "dark" : "light"} mode`, async () => {
        for (const width of WIDTHS) {
          const page = await opened("", { width, dark });
          await page.click("#make button");
          assert.deepEqual(await violations(page), [], `${width}`);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          assert(wide <= width, `${wide} pixels of ${width}`);
          mkdirSync(join(BUILD_FOLDER, "shots"), { recursive: true });
          await page.screenshot({
            path: join(BUILD_FOLDER, `shots/page-${name}-${width}${dark ? "-dark" : ""}.png`),
            fullPage: width < 3000,
          });
          await page.close();
        }
      });
    }
  });
}

test("the page is built", () => assert(existsSync(join(BUILD_FOLDER, "dist/inspect/index.html"))));
