// `node small.mjs FILE BYTES`: fails where a bundler left more in a file than that.
import { statSync } from "node:fs";

const [file, most] = process.argv.slice(2);
const { size } = statSync(file);
if (size > Number(most)) throw new Error(`${file}: expected ${most} bytes at most, found ${size}`);
