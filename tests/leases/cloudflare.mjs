// Runs examples/cloudflare in workerd until standard input ends, and prints the port. workerd stores the Durable
// Objects in the given folder. The tests in cli/tests/serve and lease/tests/faults start this script.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [disk, port = "0", restored] = process.argv.slice(2);
const PACKAGE = join(import.meta.dirname, "../../packages/js");
const workerd = createRequire(join(import.meta.dirname, "../package.json"))("workerd").default;
const { build } = createRequire(join(PACKAGE, "package.json"))("esbuild");
const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
mkdirSync(disk, { recursive: true });

await build({
  entryPoints: [process.env.POLYFLAKE_WORKER ?? join(import.meta.dirname, "../../examples/cloudflare/worker.js")],
  outfile: join(folder, "worker.js"),
  bundle: true,
  format: "esm",
  conditions: ["workerd", "worker"],
  external: ["cloudflare:*"],
  nodePaths: [join(import.meta.dirname, "node_modules")],
  loader: { ".wasm": "copy" },
  assetNames: "[name]",
  logLevel: "error",
});
const modules = readdirSync(folder)
  .sort((one) => (one === "worker.js" ? -1 : 1))
  .map((name) => `(name = "${name}", ${name.endsWith(".wasm") ? "wasm" : "esModule"} = embed "${name}")`);
const restoredBinding = restored ? `, (name = "POLYFLAKE_RESTORED", text = "${restored}")` : "";
writeFileSync(
  join(folder, "config.capnp"),
  `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "disk", disk = (path = "${disk}", writable = true)),
    (name = "network", network = (allow = ["local"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${modules.join(", ")}],
  compatibilityDate = "2026-04-01",
  globalOutbound = "network",
  durableObjectNamespaces = [(className = "LeaseStore", uniqueKey = "leases", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [
    (name = "LEASES", durableObjectNamespace = "LeaseStore"),
    (name = "POLYFLAKE_TOKENS", fromEnvironment = "POLYFLAKE_TOKENS")${restoredBinding}
  ],
);
`,
);
const options = ["serve", "--control-fd=3", join(folder, "config.capnp")];
const child = spawn(workerd, options, { stdio: ["ignore", "inherit", "inherit", "pipe"] });
const [line] = await new Promise((resolve) =>
  createInterface({ input: child.stdio[3] }).once("line", (it) => resolve([it])),
);
console.log(`${JSON.parse(line).port} ${child.pid}`);
process.stdin.resume().on("end", () => child.kill());
child.on("exit", () => {
  rmSync(folder, { recursive: true });
  process.exit();
});
