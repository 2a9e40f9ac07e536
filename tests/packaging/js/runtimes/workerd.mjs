// Runs edge.js in workerd. In consecutive requests, edge.js creates 70,000 generators and then reports a restore.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import workerd from "workerd";

const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
try {
  await build({
    entryPoints: ["edge.js"],
    outdir: folder,
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker"],
    loader: { ".wasm": "copy" },
    assetNames: "[name]",
    logLevel: "error",
  });
  await serve(join(folder, "config.capnp"), async (url) => {
    for (let k = 0; k < 7; k++) {
      const found = await (await fetch(url, { method: "POST", body: "10000" })).json();
      if (found !== 20_100) throw new Error(`workerd: expected 20100 IDs, found ${JSON.stringify(found)}`);
    }
    const differs = await (await fetch(url, { method: "POST", body: "0" })).json();
    if (differs !== true) throw new Error("workerd: expected another partition after a restore, found the same");
  });
  console.log("workerd: 7 times 20100 IDs of generators in a row");
} finally {
  rmSync(folder, { recursive: true });
}

async function serve(config, use) {
  const kinds = readdirSync(folder).map(
    (name) => `(name = "${name}", ${name.endsWith(".wasm") ? "wasm" : "esModule"} = embed "${name}")`,
  );
  writeFileSync(
    config,
    `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (modules = [${kinds.join(", ")}], compatibilityDate = "${workerd.compatibilityDate}");
`,
  );
  const child = spawn(workerd.default, ["serve", "--control-fd=3", config], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  try {
    const [line] = await once(createInterface({ input: child.stdio[3] }), "line");
    await use(`http://127.0.0.1:${JSON.parse(line).port}/`);
  } finally {
    child.kill();
  }
}
