// `node prints.mjs FILE WORD`: fails unless the program prints the word. With `--alone` it is run as a copy outside of the project, away from node_modules.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const [file, word, alone] = process.argv.slice(2);

function output(path) {
  return execFileSync(process.execPath, [path], { encoding: "utf8" }).trim();
}

function outputOfCopy() {
  const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
  try {
    copyFileSync(file, join(folder, basename(file)));
    return output(join(folder, basename(file)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const found = alone === "--alone" ? outputOfCopy() : output(file);
if (found !== word) throw new Error(`${file}: expected ${word}, found ${found}`);
