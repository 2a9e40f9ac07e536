// `node titled.mjs FOLDER` fails unless the title of the folder's index.html becomes `wasm` in a browser.
import { readFromPage, serveFolder } from "./browser.mjs";

const [folder] = process.argv.slice(2);
const title = await serveFolder(folder, (address) =>
  readFromPage(`${address}/index.html`, "document.title !== ''", "document.title"),
);
if (title !== "wasm") throw new Error(`${folder}: expected wasm, found ${title}`);
