// Tests the recipe for public IDs in URLs over HTTP: 200 for the ID of an existing row, and 404 for everything else.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { Keyring } from "polyflake/public";
import { recipe, run } from "./recipes.mjs";

const SECRET = Uint8Array.from({ length: 32 }, (_, k) => k);
process.env.PUBLIC_IDS_SECRET = Buffer.from(SECRET).toString("hex");
const keyring = new Keyring(SECRET);
const ORDER = keyring.of("order").encode(42);

const REQUESTS = [
  [ORDER, 200, { id: ORDER, item: "tea" }],
  [keyring.of("order").encode(43), 404],
  [keyring.of("invoice").encode(42), 404, "type_mismatch"],
  [ORDER.replace("order_1", "order_2"), 404, "check_failed"],
  [new Keyring({ 2: SECRET }).of("order").encode(42), 404, "unknown_version"],
  [keyring.of("order", { bits: 64 }).encode(2n ** 63n), 404, "unknown_id"],
  [ORDER.toUpperCase(), 404, "type_mismatch"],
  [`order_${ORDER.slice(6).toUpperCase()}`, 404, "invalid_character"],
  ["42", 404, "type_mismatch"],
  [`${ORDER}0`, 404, "invalid_length"],
];

for (const version of ["express-4", "express"])
  test(version, async () => {
    const text = recipe("public-ids.md", "express").replace('from "express"', `from "${version}"`);
    const { app } = await run(`public-${version}`, text, ["app"]);
    const server = createServer(app).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      for (const [id, status, body] of REQUESTS) {
        const answer = await fetch(`http://127.0.0.1:${server.address().port}/orders/${id}`);
        assert.equal(answer.status, status, id);
        if (status === 200) assert.deepEqual(await answer.json(), body);
        else if (body) assert.equal((await answer.json()).code, body, id);
      }
    } finally {
      server.close();
    }
  });
