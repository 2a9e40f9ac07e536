/**
 * Adds the site's files other than its HTML pages to a folder. These are the pictures, the script that the pages load,
 * each page as Markdown, and `llms.txt`, which is a machine-readable list of the pages. The folder already contains the
 * page that identifies IDs. Usage: `node build.mjs FOLDER`.
 */
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import sharp from "sharp";
import { buildLandingScript } from "./page/bundle.mjs";
import { previewImage } from "./src/landing.mjs";
import { addressOf, FILES, isForUsers, REPOSITORY, readPage } from "./src/pages.mjs";

const [out] = process.argv.slice(2);
const docs = join(REPOSITORY, "docs");

for (const name of readdirSync(docs, { recursive: true }).filter((name) => name.endsWith(".svg")))
  cpSync(join(docs, name), join(out, name));
for (const name of ["favicon.svg", "reader.js"]) cpSync(join(import.meta.dirname, "src", name), join(out, name));

await buildLandingScript(join(out, "../wasm"), out);
await sharp(Buffer.from(previewImage())).png().toFile(join(out, "social.png"));

const lines = [];
for (const place of FILES.keys()) {
  const { title, description, body } = readPage(place);
  const path = join(out, `${place}.md`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `# ${title}\n${body}`);
  if (isForUsers(place))
    lines.push(`- [${title}](${addressOf(place) === "/" ? "/index" : `/${place}`}.md): ${description}`);
}
const { description } = readPage("index");
writeFileSync(join(out, "llms.txt"), `# polyflake\n\n> ${description}\n\n## Pages\n\n${lines.join("\n")}\n`);
