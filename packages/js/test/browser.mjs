// Opens the repository's pages in Chromium.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));

const BROWSER_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const executablePath = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((folder) => BROWSER_NAMES.map((name) => join(folder, name)))
  .find(existsSync);

// The task runner installs Chromium on Linux in continuous integration, where no test may be skipped.
const isRequired = process.platform === "linux" && !["", "false", undefined].includes(process.env.CI);
if (isRequired && !executablePath) throw new Error("expected Chromium on this machine");

/** The reason to skip browser tests, or `false` to run them. */
export const skipReason = executablePath ? false : "no Chromium on this machine";

const CONTENT_TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
  ".css": "text/css",
};

/** Returns a request handler that serves the repository's files with additional headers. */
const serveWith =
  (headers) =>
  ({ url }, response) => {
    const path = join(REPOSITORY, new URL(url, "http://localhost").pathname);
    if (!existsSync(path)) return response.writeHead(404).end();
    const type = CONTENT_TYPES[extname(path)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, ...headers }).end(readFileSync(path));
  };

/** Opens a file of the repository as a page. */
export async function browse(path, headers = {}) {
  const server = createServer(serveWith(headers));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage({ viewport: { width: 1100, height: 1000 } });
  await page.goto(`http://127.0.0.1:${server.address().port}/${path}`);
  const close = async () => {
    await browser.close();
    server.close();
  };
  return { page, close };
}
