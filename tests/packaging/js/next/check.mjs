// Builds the project, starts it and asks each of its parts which machine runs. With `--webpack` it is built by webpack, with `--browser` the page is
// opened, with `--standalone` the server is one that has left the project; with `--bundled` it has the package without the addon.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { moved } from "./moved.mjs";

const NEXT = "node_modules/next/dist/bin/next";
const [browser, standalone, bundled, webpack] = ["--browser", "--standalone", "--bundled", "--webpack"].map((option) =>
  process.argv.includes(option),
);
const onServer = bundled ? "wasm" : "native";

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** The answer, asked for again until the server listens. */
async function ask(url, patience = 100) {
  try {
    const response = await fetch(url);
    return { status: response.status, text: await response.text() };
  } catch (error) {
    if (patience === 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return ask(url, patience - 1);
  }
}

async function check(address) {
  assert.deepEqual(await ask(`${address}/node`), { status: 200, text: onServer });
  assert.deepEqual(await ask(`${address}/edge`), { status: 200, text: "wasm" });
  const { status, text } = await ask(address);
  assert.equal(status, 200);
  assert.match(text, new RegExp(`<p id="server">${onServer}</p>`));
  assert.match(text, new RegExp(`<p id="client" title="${onServer}">`));
  if (!browser) return;
  const { inPage } = await import("./browser.mjs");
  const client = "document.querySelector('#client').textContent";
  assert.equal(await inPage(address, `${client} !== ''`, client), "wasm");
}

function build() {
  if (bundled) writeFileSync("next.config.js", 'module.exports = { output: "standalone" };\n');
  else if (standalone) renameSync("standalone.config.js", "next.config.js");
  execFileSync(process.execPath, [NEXT, "build", ...(webpack ? ["--webpack"] : [])], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Runs a server while it is checked. */
async function serve(program, options = {}) {
  const port = await freePort();
  const env = { ...process.env, ...options.env, PORT: `${port}`, HOSTNAME: "127.0.0.1" };
  const server = spawn(process.execPath, program, { stdio: ["ignore", "ignore", "inherit"], ...options, env });
  try {
    await check(`http://127.0.0.1:${port}`);
  } finally {
    server.kill();
    await once(server, "exit");
  }
}

build();
if (standalone) await moved(".next/standalone", (copy, options) => serve([join(copy, "server.js")], options));
else await serve([NEXT, "start", "--hostname", "127.0.0.1"]);
