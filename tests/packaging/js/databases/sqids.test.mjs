// Tests the recipe that migrates from Sqids to public IDs. During the migration, a row must be found by its old string
// as well as by its new string.
import assert from "node:assert/strict";
import { test } from "node:test";
import Sqids from "sqids";
import { recipe, run } from "./recipes.mjs";

test("old and new strings find the same rows, and others find none", async () => {
  const { find, orders } = await run("sqids", recipe("public-ids.md", "sqids"), ["find", "orders"]);
  const sqids = new Sqids({ minLength: 6 });
  for (const id of [1, 2]) {
    assert.equal(find(sqids.encode([id])), id);
    assert.equal(find(orders.encode(id)), id);
  }
  for (const text of [sqids.encode([3]), "", "order_", "order_0123456789abcde"]) assert.equal(find(text), undefined);
});
