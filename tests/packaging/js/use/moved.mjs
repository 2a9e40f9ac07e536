// Runs a copy of a build in a different folder, and as a different user if possible. The program ends as soon as it
// loads a file from outside the copy.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const NOBODY = { uid: 65534, gid: 65534 };

/**
 * Copies a file or folder, and calls `use` with the path of the copy and the options for starting programs from the
 * copy.
 */
export async function withMovedCopy(path, use) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "polyflake-")));
  try {
    chmodSync(folder, 0o755);
    const copy = join(folder, basename(path));
    cpSync(path, copy, { recursive: true, verbatimSymlinks: true });
    const guard = join(folder, "inside.mjs");
    copyFileSync("inside.mjs", guard);
    const env = { ...process.env, NODE_OPTIONS: `--import ${guard}`, POLYFLAKE_INSIDE: folder };
    return await use(copy, { cwd: folder, env, ...otherUserOptions() });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Returns the options that start a process as a different user. The options are empty if this process is not root, or
 * if that user cannot run Node.
 */
function otherUserOptions() {
  if (process.getuid?.() !== 0) return {};
  try {
    execFileSync(process.execPath, ["--version"], { ...NOBODY, cwd: "/", stdio: "ignore" });
    return NOBODY;
  } catch {
    return {};
  }
}
