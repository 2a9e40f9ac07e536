// Runs the requests in headless Chromium, in an empty page that loads the package. The argument is the path of the
// browser executable.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { chromium } from "playwright-core";

import { bundle } from "./bundle.mjs";
import { serve } from "./lines.mjs";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const { folder, remove } = await bundle("page.mjs", ["browser"], "iife");
const browser = await chromium.launch({ executablePath: process.argv[2], headless: true, args: FLAGS });
try {
  const page = await browser.newPage();
  await page.addScriptTag({ content: await readFile(join(folder, "page.js"), "utf8") });
  // Requests are passed as strings, because an object would lose a property called `__proto__` when it is passed to the
  // page.
  const answers = (text) => JSON.stringify(JSON.parse(text).map(conformance.answer));
  await serve(async (requests) => JSON.parse(await page.evaluate(answers, JSON.stringify(requests))));
} finally {
  await browser.close();
  await remove();
}
