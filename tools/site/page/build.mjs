/**
 * Builds the page that identifies IDs as a single HTML file that contains its script, its style sheet and its
 * WebAssembly modules. A content security policy prevents the page from loading or running anything else. Usage: `node
 * page/build.mjs MODULE FOLDER`, where MODULE is the folder of the inspector's module and FOLDER is the output folder.
 * `cargo xtask site` builds the module and the npm package before it runs this script.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "./bundle.mjs";

const FOLDER = import.meta.dirname;
const [module, out] = process.argv.slice(2);

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// A string in the script must not close the script element.
const script = (await bundle("page.js", module)).replaceAll("</script", "<\\/script");
const style = await bundle("style.css", module);
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)} 'wasm-unsafe-eval'`,
  `style-src ${hash(style)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const parts = { POLICY: policy, STYLE: style, SCRIPT: script };
const page = readFileSync(join(FOLDER, "index.html"), "utf8").replace(/POLICY|STYLE|SCRIPT/g, (name) => parts[name]);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "index.html"), page);
console.log(`${join(out, "index.html")}: ${page.length} bytes`);
