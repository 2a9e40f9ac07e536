// Serves folders over HTTP, and opens pages in Chromium. The environment variable CHROMIUM contains the path of its
// executable.
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { chromium } from "playwright-core";

const CONTENT_TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
};

/** Serves a folder while `act` runs, and passes the server's address to `act`. */
export async function serveFolder(folder, act, headers = {}) {
  const server = createServer(({ url }, response) => {
    const path = join(folder, new URL(url, "http://localhost").pathname);
    if (!existsSync(path) || !statSync(path).isFile()) return response.writeHead(404).end();
    response
      .writeHead(200, { "content-type": CONTENT_TYPES[extname(path)] ?? "application/octet-stream", ...headers })
      .end(readFileSync(path));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await act(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.close();
  }
}

/** Reads a value from a page once the expression `ready` is true in the page. Rethrows errors that occur in the page. */
export async function readFromPage(url, ready, read) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const page = await browser.newPage();
    const failed = new Promise((_, reject) => page.on("pageerror", reject));
    failed.catch(() => undefined);
    await page.goto(url);
    await Promise.race([page.waitForFunction(ready), failed]);
    return await page.evaluate(read);
  } finally {
    await browser.close();
  }
}
