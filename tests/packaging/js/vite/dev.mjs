// `node dev.mjs FOLDER` opens the folder's page on the development server, which bundles dependencies automatically.
import { createServer } from "vite";
import { readFromPage } from "./browser.mjs";

const server = await createServer({ root: process.argv[2], server: { host: "127.0.0.1", port: 0 }, logLevel: "warn" });
await server.listen();
try {
  const found = await readFromPage(server.resolvedUrls.local[0], "document.title !== ''", "document.title");
  if (found !== "wasm") throw new Error(`expected wasm, found ${found}`);
} finally {
  await server.close();
}
