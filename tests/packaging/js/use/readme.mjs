// The README's examples with other people's libraries, for the compiler: `node readme.mjs PATH` writes readme.ts, the blocks that
// import the package's PATH, over the names that globals.d.ts declares.
import { readFileSync, writeFileSync } from "node:fs";

const [, , path] = process.argv;
const readme = readFileSync("node_modules/polyflake/README.md", "utf8");
const blocks = [...readme.matchAll(/^```typescript\n(.*?)^```$/gms)].map(([, block]) => block);
const ours = blocks.filter((block) => block.includes(`"${path}"`));
if (ours.length === 0) throw new Error(`expected an example of ${path}, found none`);
writeFileSync("readme.ts", ours.join("\n"));
