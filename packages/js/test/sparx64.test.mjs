// Tests the cipher's batches and key. borders.test.mjs tests invalid keys and blocks, and tests/conformance tests the
// vectors.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { assertError } from "./assertions.mjs";
import { onEachMachine } from "./machines.mjs";

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const key = Uint8Array.from({ length: 16 }, (_, k) => 17 * k);

onEachMachine(({ sparx64: { Sparx64 } }) => {
  test("batches equal single blocks and leave their input unchanged", () => {
    const cipher = new Sparx64(key);
    for (const count of [0, 1, 2, 1023, 1024, 1025, 5000]) {
      const blocks = Uint8Array.from({ length: 8 * count }, (_, k) => k * 7 + (k >> 8));
      const before = hex(blocks);
      const encrypted = cipher.encryptMany(blocks);
      assert.equal(hex(blocks), before);
      for (const k of [0, count >> 1, count - 1].filter((k) => k >= 0 && k < count)) {
        const [block, made] = [blocks, encrypted].map((all) => all.slice(8 * k, 8 * k + 8));
        assert.deepEqual(cipher.encrypt(block), made);
        assert.deepEqual(cipher.decrypt(made), block);
      }
      assert.deepEqual(cipher.decryptMany(encrypted), blocks);
    }
    for (const name of ["encryptMany", "decryptMany"])
      for (const length of [1, 7, 9, 8193]) assertError("invalid_length", () => cipher[name](new Uint8Array(length)));
  });

  test("the key is copied, and never shown", () => {
    const given = Uint8Array.from(key);
    const cipher = new Sparx64(given);
    const encrypted = cipher.encrypt(new Uint8Array(8));
    given.fill(0);
    assert.deepEqual(cipher.encrypt(new Uint8Array(8)), encrypted);
    assert.equal(JSON.stringify(cipher), "{}");
    assert.match(inspect(cipher, { showHidden: true, depth: 9 }), /^Sparx64 \{\}$/);
    assert.throws(() => Sparx64(key), TypeError);
  });
});
