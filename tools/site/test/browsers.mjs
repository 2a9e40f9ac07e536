/** Opens pages in the browsers that are installed on this machine: Chromium and Firefox. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import puppeteer from "puppeteer-core";

const findExecutable = (...names) =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(existsSync);

export const BROWSERS = {
  chrome: findExecutable("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
  firefox: findExecutable("firefox-esr", "firefox"),
};

export const launch = (browser) =>
  puppeteer.launch({
    browser,
    executablePath: BROWSERS[browser],
    args: browser === "chrome" ? ["--no-sandbox", "--disable-gpu"] : [],
  });

/**
 * Opens a page with a viewport of the given size. Errors in the page are collected in `page.faults`. Only Chromium
 * supports `dark`, which emulates dark mode.
 */
export async function openPage(browser, address, { width = 1280, height = 900, dark = false } = {}) {
  const page = await browser.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  await page.setViewport({ width, height });
  if (dark) await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  await page.goto(address, { waitUntil: "load" });
  return page;
}
