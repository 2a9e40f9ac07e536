// Tests the page under a strict content security policy, and then under one that allows compiling WebAssembly.
import assert from "node:assert/strict";
import { readFromPage, serveFolder } from "./browser.mjs";

function loadPageWithPolicy(policy) {
  const open = (address) => readFromPage(`${address}/index.html`, "globalThis.made !== undefined", "globalThis.made");
  return serveFolder("page", open, { "content-security-policy": policy });
}

const strictResults = await loadPageWithPolicy("default-src 'self'");
assert.deepEqual([strictResults.decoded, strictResults.parsed], [1, 1]);
assert.match(strictResults.generated, /^backend_unavailable: .*'wasm-unsafe-eval'/);
assert.deepEqual(await loadPageWithPolicy("default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"), {
  decoded: 1,
  parsed: 1,
  generated: true,
});
