// Builds the project, starts it, and checks which backend each of its parts uses. `--webpack` builds with webpack,
// `--browser` opens the page, `--standalone` runs the server outside the project, and `--bundled` bundles the package
// without the addon.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withMovedCopy } from "./moved.mjs";
import { ask, serveApp } from "./started.mjs";

const NEXT_BIN = "node_modules/next/dist/bin/next";
const [browser, standalone, bundled, webpack] = ["--browser", "--standalone", "--bundled", "--webpack"].map((option) =>
  process.argv.includes(option),
);
const serverBackend = bundled ? "wasm" : "native";

async function check(address) {
  const textOf = async (path) => {
    const answer = await ask(`${address}${path}`);
    assert.equal(answer.status, 200);
    return answer.text();
  };
  assert.equal(await textOf("/node"), serverBackend);
  assert.equal(await textOf("/edge"), "wasm");
  const text = await textOf("/");
  assert.match(text, new RegExp(`<p id="server">${serverBackend}</p>`));
  assert.match(text, new RegExp(`<p id="client" title="${serverBackend}">`));
  if (!browser) return;
  const { readFromPage } = await import("./browser.mjs");
  const client = "document.querySelector('#client').textContent";
  assert.equal(await readFromPage(address, `${client} !== ''`, client), "wasm");
}

function build() {
  if (bundled) writeFileSync("next.config.js", 'module.exports = { output: "standalone" };\n');
  else if (standalone) renameSync("standalone.config.js", "next.config.js");
  execFileSync(process.execPath, [NEXT_BIN, "build", ...(webpack ? ["--webpack"] : [])], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

build();
if (standalone)
  await withMovedCopy(".next/standalone", (copy, options) => serveApp([join(copy, "server.js")], check, options));
else await serveApp([NEXT_BIN, "start", "--hostname", "127.0.0.1"], check);
