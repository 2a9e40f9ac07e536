// Runs a PostgreSQL server in its own folder, which also contains its socket.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

const POSTGRES_DIR = "/usr/lib/postgresql";

const idOf = (option) => Number(execFileSync("id", [option, "postgres"], { encoding: "utf8" }));

/**
 * Starts a PostgreSQL server, calls `use` with the folder of the server's socket, and then stops the server. The
 * database user is `test`, and the server does not listen on a TCP port. If PostgreSQL is not installed, passes
 * undefined to `use`, or throws an error in CI. Unless `fsync` is `on`, writes may be lost in a system crash.
 */
export function withPostgres(use, fsync = "off") {
  if (!existsSync(POSTGRES_DIR)) {
    if (process.env.CI) throw new Error("expected PostgreSQL on this machine");
    console.log("skipped: no PostgreSQL on this machine");
    return use(undefined);
  }
  const versions = readdirSync(POSTGRES_DIR).sort((a, b) => Number(a) - Number(b));
  const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
  // PostgreSQL refuses to run as root.
  const user = userInfo().uid === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : {};
  const run = (program, ...options) =>
    execFileSync(join(POSTGRES_DIR, versions.at(-1), "bin", program), ["--pgdata", join(folder, "data"), ...options], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
      ...user,
    });
  if ("uid" in user) chownSync(folder, user.uid, user.gid);
  // Programs that `withMovedCopy` has copied may run as a different user, who must be able to read this folder.
  chmodSync(folder, 0o755);
  try {
    run("initdb", "--auth=trust", "--username=test", "--no-sync");
    const options = `-k ${folder} -c listen_addresses='' -c shared_buffers=16MB -c fsync=${fsync}`;
    run("pg_ctl", "start", "--wait", "--silent", "--log", join(folder, "log"), "--options", options);
    try {
      return use(folder);
    } finally {
      run("pg_ctl", "stop", "--mode=immediate", "--silent");
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs Node with the server's folder in its environment. */
export function runNode(folder, ...options) {
  const { PGHOST, ...env } = process.env;
  if (folder) env.PGHOST = folder;
  execFileSync(process.execPath, options, { stdio: "inherit", env });
}

/** Checks a project's types with the repository's compiler. */
export function checkTypes(project) {
  runNode(
    undefined,
    join(process.env.POLYFLAKE_REPOSITORY, "tests/node_modules/typescript/bin/tsc"),
    "--project",
    project,
  );
}
