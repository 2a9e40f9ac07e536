// Tests the page under a strict content security policy, and then under one that allows compiling WebAssembly.
import assert from "node:assert/strict";
import { inPage, served } from "./browser.mjs";

function pageUnderPolicy(policy) {
  const open = (address) => inPage(`${address}/index.html`, "globalThis.made !== undefined", "globalThis.made");
  return served("page", open, { "content-security-policy": policy });
}

const strict = await pageUnderPolicy("default-src 'self'");
assert.deepEqual([strict.decoded, strict.parsed], [1, 1]);
assert.match(strict.generated, /^backend_unavailable: .*'wasm-unsafe-eval'/);
assert.deepEqual(await pageUnderPolicy("default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"), {
  decoded: 1,
  parsed: 1,
  generated: true,
});
