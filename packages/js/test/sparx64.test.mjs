// The cipher: vectors, many blocks, and wrong keys and blocks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import { detached, Lying, notBytesOf } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";
import { refused, vectors } from "./refusals.mjs";

const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const key = bytes("00112233445566778899aabbccddeeff");

onEachMachine(({ sparx64: { Sparx64 } }) => {
  test("encrypts and decrypts as published, and as the originals do", () => {
    const { cases } = vectors("sparx64");
    assert.deepEqual(cases[0].note, "published SPARX-64/128 test vector");
    for (const { key, plaintext, ciphertext } of cases) {
      const cipher = new Sparx64(bytes(key));
      assert.equal(hex(cipher.encrypt(bytes(plaintext))), ciphertext);
      assert.equal(hex(cipher.decrypt(bytes(ciphertext))), plaintext);
    }
  });

  test("many blocks are each on their own, and those given stay as they are", () => {
    const cipher = new Sparx64(key);
    for (const count of [0, 1, 2, 1023, 1024, 1025, 5000]) {
      const blocks = Uint8Array.from({ length: 8 * count }, (_, k) => k * 7 + (k >> 8));
      const before = hex(blocks);
      const encrypted = cipher.encryptMany(blocks);
      assert.equal(hex(blocks), before);
      for (const k of [0, count >> 1, count - 1].filter((k) => k >= 0 && k < count)) {
        assert.deepEqual(encrypted.slice(8 * k, 8 * k + 8), cipher.encrypt(blocks.slice(8 * k, 8 * k + 8)));
      }
      assert.deepEqual(cipher.decryptMany(encrypted), blocks);
    }
  });

  test("a round trip changes nothing", () => {
    const block = fc.uint8Array({ minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), block, (key, block) => {
        const cipher = new Sparx64(key);
        assert.deepEqual(cipher.decrypt(cipher.encrypt(block)), block);
        assert.deepEqual(cipher.encrypt(cipher.decrypt(block)), block);
      }),
    );
  });

  test("keys", () => {
    for (const value of notBytesOf(16)) refused("invalid_type", () => new Sparx64(value), { field: "key" });
    for (const length of [0, 1, 15, 17, 32, 1 << 20])
      refused("invalid_secret", () => new Sparx64(new Uint8Array(length)));
    refused("invalid_secret", () => new Sparx64(detached(16)));
    refused("invalid_secret", () => new Sparx64(new Lying(17)));
    assert.throws(() => Sparx64(key), TypeError);
    const shared = new Uint8Array(new SharedArrayBuffer(16));
    shared.set(key);
    for (const same of [shared, Buffer.from(key), new Uint8Array([9, ...key, 9]).subarray(1, 17)]) {
      assert.deepEqual(new Sparx64(same).encrypt(new Uint8Array(8)), new Sparx64(key).encrypt(new Uint8Array(8)));
    }
  });

  test("blocks", () => {
    const cipher = new Sparx64(key);
    for (const name of ["encrypt", "decrypt"]) {
      for (const value of notBytesOf(8)) {
        refused("invalid_type", () => cipher[name](value), { field: "block" });
        refused("invalid_type", () => cipher[`${name}Many`](value), { field: "blocks" });
      }
      for (const length of [0, 7, 9, 16]) refused("invalid_length", () => cipher[name](new Uint8Array(length)));
      for (const length of [1, 7, 9, 8193])
        refused("invalid_length", () => cipher[`${name}Many`](new Uint8Array(length)));
      refused("invalid_length", () => cipher[name](detached(8)));
      assert.equal(cipher[`${name}Many`](detached(8)).length, 0);
      assert.deepEqual(cipher[name](new Lying(8)), cipher[name](new Uint8Array(8)));
    }
  });

  test("the key is copied, and never shown", () => {
    const given = Uint8Array.from(key);
    const cipher = new Sparx64(given);
    const encrypted = cipher.encrypt(new Uint8Array(8));
    given.fill(0);
    assert.deepEqual(cipher.encrypt(new Uint8Array(8)), encrypted);
    assert.equal(JSON.stringify(cipher), "{}");
    assert.match(inspect(cipher, { showHidden: true, depth: 9 }), /^Sparx64 \{\}$/);
  });
});
