// `node small.mjs FILE BYTES` fails if a bundler's output file is larger than BYTES.
import { statSync } from "node:fs";

const [file, most] = process.argv.slice(2);
const { size } = statSync(file);
if (size > Number(most)) throw new Error(`${file}: expected ${most} bytes at most, found ${size}`);
