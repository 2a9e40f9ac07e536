// `node prints.mjs FILE WORD` fails unless the program prints the word. With `--alone`, runs a copy outside the
// project, without access to node_modules. The copy contains only the file, or the whole folder with `--alone FOLDER`.
import { execFileSync } from "node:child_process";
import { join, relative } from "node:path";
import { withMovedCopy } from "./moved.mjs";

const [file, word, alone, folder = file] = process.argv.slice(2);

const captureOutput = (path, options) =>
  execFileSync(process.execPath, [path], { encoding: "utf8", ...options }).trim();

const foundOutput = alone
  ? await withMovedCopy(folder, (copy, options) => captureOutput(join(copy, relative(folder, file)), options))
  : captureOutput(file);
if (foundOutput !== word) throw new Error(`${file}: expected ${word}, found ${foundOutput}`);
