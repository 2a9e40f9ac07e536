// Builds the project, starts it and asks each of its parts which machine runs. With `--webpack` it is built by webpack, with `--browser` the page is
// opened, with `--standalone` the server is one that has left the project.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NEXT = "node_modules/next/dist/bin/next";
const [browser, standalone, webpack] = ["--browser", "--standalone", "--webpack"].map((option) =>
  process.argv.includes(option),
);

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
  assert.deepEqual(await ask(`${address}/node`), { status: 200, text: "native" });
  assert.deepEqual(await ask(`${address}/edge`), { status: 200, text: "wasm" });
  const { status, text } = await ask(address);
  assert.equal(status, 200);
  assert.match(text, /<p id="server">native<\/p>/);
  assert.match(text, /<p id="client" title="native">/);
  if (!browser) return;
  const { inPage } = await import("./browser.mjs");
  const client = "document.querySelector('#client').textContent";
  assert.equal(await inPage(address, `${client} !== ''`, client), "wasm");
}

function build() {
  if (standalone) renameSync("standalone.config.js", "next.config.js");
  execFileSync(process.execPath, [NEXT, "build", ...(webpack ? ["--webpack"] : [])], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Runs a server while it is checked. */
async function serve(program) {
  const port = await freePort();
  const env = { ...process.env, PORT: `${port}`, HOSTNAME: "127.0.0.1" };
  const server = spawn(process.execPath, program, { env, stdio: ["ignore", "ignore", "inherit"] });
  try {
    await check(`http://127.0.0.1:${port}`);
  } finally {
    server.kill();
    await once(server, "exit");
  }
}

async function serveElsewhere() {
  const folder = mkdtempSync(join(tmpdir(), "polyflake-"));
  try {
    cpSync(".next/standalone", folder, { recursive: true });
    await serve([join(folder, "server.js")]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

build();
await (standalone ? serveElsewhere() : serve([NEXT, "start", "--hostname", "127.0.0.1"]));
