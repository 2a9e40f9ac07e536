// `node prints.mjs FILE WORD` fails unless the program prints the word. With `--alone`, runs a copy outside the
// project, away from node_modules. The copy contains only the file, or the whole folder with `--alone FOLDER`.
import { execFileSync } from "node:child_process";
import { join, relative } from "node:path";
import { moved } from "./moved.mjs";

const [file, word, alone, folder = file] = process.argv.slice(2);

const output = (path, options) => execFileSync(process.execPath, [path], { encoding: "utf8", ...options }).trim();

const found = alone
  ? await moved(folder, (copy, options) => output(join(copy, relative(folder, file)), options))
  : output(file);
if (found !== word) throw new Error(`${file}: expected ${word}, found ${found}`);
