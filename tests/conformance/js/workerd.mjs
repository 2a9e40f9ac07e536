// Runs the worker in this folder in workerd, Cloudflare's edge runtime.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

import workerd from "workerd";

import { bundle } from "./bundle.mjs";
import { serve } from "./lines.mjs";

/** Returns workerd's configuration: one worker with these modules, on a free local port. */
function config(modules) {
  const kind = (name) => (name.endsWith(".wasm") ? "wasm" : "esModule");
  const embedded = modules.map((name) => `(name = "${name}", ${kind(name)} = embed "${name}")`);
  return `
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [${embedded.join(", ")}],
  compatibilityDate = "${workerd.compatibilityDate}",
);
`;
}

/** Returns the modules, with the main module first. */
async function modules(folder) {
  const names = (await readdir(folder)).filter((name) => name !== "worker.js");
  return ["worker.js", ...names];
}

/** Starts workerd, and reads its port from a pipe. */
async function start(folder) {
  const path = join(folder, "config.capnp");
  await writeFile(path, config(await modules(folder)));
  const child = spawn(workerd.default, ["serve", "--control-fd=3", path], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const ended = once(child, "exit").then(([code]) => Promise.reject(new Error(`workerd ended with ${code}`)));
  const listening = once(createInterface({ input: child.stdio[3] }), "line");
  const [line] = await Promise.race([listening, ended]);
  ended.catch(() => {});
  return { child, url: `http://127.0.0.1:${JSON.parse(line).port}/` };
}

const { folder, remove } = await bundle("worker.mjs", ["workerd", "worker", "browser"], "esm");
const { child, url } = await start(folder);
try {
  await serve(async (requests) => (await fetch(url, { method: "POST", body: JSON.stringify(requests) })).json());
} finally {
  child.kill();
  await remove();
}
