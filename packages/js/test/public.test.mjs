// Tests public IDs: the vectors, versions, limits and errors. core/tests/public.rs measures how many forged strings are
// accepted.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { test } from "node:test";
import { inspect } from "node:util";
import * as native from "polyflake/native";
import { currentPlatform } from "../build/platforms.mjs";
import { assertError, loadVectors } from "./assertions.mjs";
import { NON_INTEGERS, NON_NUMBERS, nonBytesFor, nonTextsFor } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";

const { cases } = loadVectors("public");
const SECRET = Uint8Array.from({ length: 32 }, (_, k) => k);
const OTHER_SECRET = new Uint8Array(32).fill(7);
const ZERO_ID = "order_1abpg7dgwhjba5j"; // the encoding of 0 with SECRET

onEachMachine(({ public: { Keyring, IdType } }) => {
  const ids = new Keyring(SECRET);
  const orders = ids.of("order");
  const wideType = ids.of("order", { bits: 64 });

  test("single and batch calls match the vectors", () => {
    const byType = new Map();
    for (const { secret, type, bits, version, number, text } of cases) {
      const of = new Keyring({ [version]: Buffer.from(secret, "hex") }).of(type, { bits });
      const value = bits > 53 ? BigInt(number) : Number(number);
      assert.deepEqual([of.name, of.bits], [type, bits]);
      assert.equal(of.encode(BigInt(number)), text);
      if (BigInt(number) < 2n ** 53n) assert.equal(of.encode(Number(number)), text);
      assert.equal(of.decode(text), value);
      const key = `${secret} ${type} ${version}`;
      const { numbers, texts } = byType.get(key) ?? byType.set(key, { of, numbers: [], texts: [] }).get(key);
      numbers.push(value);
      texts.push(text);
    }
    assert(byType.size > 20, `${byType.size} types`);
    for (const { of, numbers, texts } of byType.values()) {
      assert.deepEqual(of.encodeMany(numbers), texts);
      assert.deepEqual(of.decodeMany(texts), numbers);
    }
  });

  test("the type of a result depends only on the bits", () => {
    for (const bits of [1, 48, 52, 53, 54, 63, 64]) {
      const of = ids.of("a", { bits });
      const most = 2n ** BigInt(bits) - 1n;
      for (const number of [0n, 1n, most]) {
        const read = of.decode(of.encode(number));
        assert.equal(read, bits > 53 ? number : Number(number), `${bits} bits`);
        assert.deepEqual(of.decodeMany([of.encode(number)]), [read]);
      }
      for (const call of [of.encode, (number) => of.encodeMany([number])])
        for (const number of [most + 1n, -1n, -(2n ** 64n), 2n ** 100_000n])
          assert(assertError("out_of_range", () => call.call(of, number)).message.length < 200);
    }
  });

  test("batches of every size equal single calls", () => {
    for (const of of [orders, wideType, ids.of("x".repeat(63), { bits: 53 })])
      for (const count of [0, 1, 63, 64, 65, 207, 208, 780, 781, 1024, 1025, 3000]) {
        const numbers = Array.from({ length: count }, (_, k) => (of === wideType ? BigInt(k) << 50n : k * 1000));
        const texts = of.encodeMany(numbers);
        assert.deepEqual(
          texts,
          numbers.map((number) => of.encode(number)),
        );
        assert.deepEqual(of.decodeMany(texts), numbers);
      }
    const mixed = orders.encodeMany([1, 2n, 3]);
    assert.deepEqual(orders.decodeMany(mixed), [1, 2, 3]);
    assertError("out_of_range", () => orders.encodeMany([1, 2 ** 48]), { item: 1 });
    assertError("invalid_type", () => orders.encodeMany([1, "2"]), { item: 1, field: "ids" });
    assertError("check_failed", () => orders.decodeMany([...mixed, `${ZERO_ID.slice(0, -1)}0`]), { item: 3 });
    assertError("invalid_length", () => orders.decodeMany([...mixed, "order_"]), { item: 3 });
    assertError("invalid_character", () => orders.decodeMany([`${ZERO_ID.slice(0, -1)}é`]), { item: 0, position: 20 });
    for (const value of ["1", {}, null, undefined, new Float64Array(1)]) {
      assertError("invalid_type", () => orders.encodeMany(value), { field: "ids" });
      assertError("invalid_type", () => orders.decodeMany(value), { field: "ids" });
    }
  });

  test("invalid numbers are rejected", () => {
    const field = "number";
    for (const of of [orders, wideType]) {
      for (const value of [...NON_NUMBERS, ...NON_INTEGERS])
        if (typeof value !== "bigint") assertError("invalid_type", () => of.encode(value), { field });
      for (const value of [-0, -1, -(2 ** 53)]) assertError("out_of_range", () => of.encode(value), { field });
    }
    assert.equal(
      assertError("out_of_range", () => orders.encode(-0)).message,
      "expected number from 0 to 281474976710655, found -0",
    );
    assertError("out_of_range", () => orders.encode(2 ** 48), { field });
    assertError("out_of_range", () => orders.encode(2 ** 53), { field });
    // A number of 2^53 or above may have been rounded.
    assertError("invalid_type", () => wideType.encode(2 ** 53), { field });
    assert.equal(wideType.decode(wideType.encode(2 ** 53 - 1)), 2n ** 53n - 1n);
  });

  test("invalid strings are rejected", () => {
    const field = "text";
    for (const value of nonTextsFor(ZERO_ID)) assertError("invalid_type", () => orders.decode(value), { field });
    const found = (text) =>
      assertError("type_mismatch", () => orders.decode(text), { field }).message.split(", found ")[1];
    assert.equal(found("invoice_1abpg7dgwhjba5j"), "`invoice`");
    assert.equal(found("other_1abpg7dgwhjba5j"), "`other`");
    assertError("type_mismatch", () => orders.decodeMany([ZERO_ID, "other_1abpg7dgwhjba5j"]), { item: 1 });
    assert.equal(found(ZERO_ID.replace("1", "_1")), "`order_`");
    assert.equal(found(ZERO_ID.replace("gw", "g_")), "`order_1abpg7dg`");
    assert.equal(found(""), "another");
    assert.equal(found("order"), "another");
    assert.equal(found(`${"x".repeat(64)}_`), "another");
    assert.equal(found(`${"x".repeat(1 << 20)}_1abpg7dgwhjba5j`), "another");
    for (const text of ["order_", ZERO_ID.slice(0, -1), `${ZERO_ID}0`, `order_${"1".repeat(1 << 20)}`])
      assert.equal(
        assertError("invalid_length", () => orders.decode(text), { field }).message,
        `expected length 21, found ${text.length}`,
      );
    for (const [at, character, meant] of [
      [6, "!"],
      [8, "u"],
      [20, "é"],
      [20, "İ"], // 0x130, whose low byte is the code of the digit 0
      [9, "\u212a"], // the Kelvin sign, whose lowercase form is k
      [10, "K", "k"],
      [11, "O", "0"],
      [12, "o", "0"],
      [13, "i", "1"],
      [14, "L", "1"],
    ]) {
      const text = ZERO_ID.slice(0, at) + character + ZERO_ID.slice(at + 1);
      const { message } = assertError("invalid_character", () => orders.decode(text), { position: at, field });
      assert.equal(message.endsWith(`, did you mean \`${meant}\`?`), meant !== undefined, message);
    }
    assertError("invalid_character", () => orders.decode(ZERO_ID.replace("_1a", "_1g")), { position: 7, field });
    assertError("check_failed", () => orders.decode("order_0123456789abcde"), { field });
    assertError("unknown_version", () => orders.decode(new Keyring({ 2: SECRET }).of("order").encode(0)), { field });
    assertError("unknown_id", () => orders.decode(wideType.encode(2n ** 64n - 1n)), { field });
  });

  test("each wrong character and each swap is rejected", () => {
    const characters = "0123456789abcdefghjkmnpqrstvwxyz";
    for (let at = 6; at < ZERO_ID.length; at++)
      for (const character of characters) {
        const text = ZERO_ID.slice(0, at) + character + ZERO_ID.slice(at + 1);
        if (text !== ZERO_ID)
          assert.throws(
            () => wideType.decode(text),
            ({ code }) => code === (at === 7 && character > "f" ? "invalid_character" : "check_failed"),
          );
      }
    for (let at = 6; at < ZERO_ID.length - 1; at++) {
      const text = ZERO_ID.slice(0, at) + ZERO_ID[at + 1] + ZERO_ID[at] + ZERO_ID.slice(at + 2);
      if (text !== ZERO_ID) assert.throws(() => wideType.decode(text), { name: "PolyflakeError" });
    }
  });

  test("all versions are read, and the highest is written", () => {
    const old = ids.of("order").encode(42);
    const both = new Keyring({ 1: SECRET, 31: OTHER_SECRET }).of("order");
    assert.equal(both.encode(42), new Keyring({ 31: OTHER_SECRET }).of("order").encode(42));
    assert.notEqual(both.encode(42), old);
    assert.deepEqual(both.decodeMany([old, both.encode(42), old]), [42, 42, 42]);
    const all = new Keyring(Object.fromEntries(Array.from({ length: 32 }, (_, k) => [k, new Uint8Array(32).fill(k)])));
    assert.equal(all.of("order").decode(all.of("order").encode(5)), 5);
  });

  test("a version other than the highest can be written", () => {
    const both = new Keyring({ 1: SECRET, 31: OTHER_SECRET }, { write: 1 }).of("order");
    assert.equal(both.encode(42), ids.of("order").encode(42));
    assert.equal(both.decode(new Keyring({ 31: OTHER_SECRET }).of("order").encode(42)), 42);
    assertError("unknown_version", () => new Keyring({ 1: SECRET, 31: OTHER_SECRET }, { write: 2 }), {
      field: "write",
    });
    assertError("unknown_field", () => new Keyring(SECRET, { writes: 1 }), { field: "writes" });
    assertError("invalid_secret", () => new Keyring({ 1: SECRET, 2: SECRET }));
  });

  test("secrets, names and bits have limits", () => {
    for (const length of [0, 16, 31, 33])
      for (const secret of [new Uint8Array(length), { 1: new Uint8Array(length) }])
        assert.equal(
          assertError("invalid_secret", () => new Keyring(secret), { field: "secret" }).message,
          `expected a secret of 32 bytes, found ${length}`,
        );
    for (const secret of nonBytesFor(32)) {
      assert.throws(() => new Keyring(secret), `${typeof secret}`);
      assertError("invalid_type", () => new Keyring({ 1: SECRET, 2: secret ?? null }), { field: "secret" });
    }
    assertError("missing_field", () => new Keyring({}), { field: "secret" });
    for (const version of ["x", "01", "", " 1"])
      assertError("invalid_type", () => new Keyring({ [version]: SECRET }), { field: "version" });
    assertError("invalid_type", () => new Keyring({ 1.5: SECRET }), { field: "version" });
    for (const version of [32, -1, 1e21])
      assertError("out_of_range", () => new Keyring({ [version]: SECRET }), { field: "version" });
    for (const bits of [0, 65, -1, 2 ** 53])
      assertError("out_of_range", () => ids.of("order", { bits }), { field: "bits" });
    for (const bits of [null, "48", 1.5, 48n])
      assertError("invalid_type", () => ids.of("order", { bits }), { field: "bits" });
    assert.equal(ids.of("order", { bits: undefined }).encode(0), ZERO_ID);
    assertError("unknown_field", () => ids.of("order", { bit: 48 }), { field: "bit" });
    for (const [name, position] of [
      ["Order", 0],
      ["1st", 0],
      ["_a", 0],
      ["aB", 1],
      ["a-b", 1],
      ["aé", 1],
      [`${"a".repeat(70)}!`, 70],
    ])
      assertError("invalid_character", () => ids.of(name), { position, field: "type" });
    for (const name of ["", "a".repeat(64)]) assertError("invalid_length", () => ids.of(name), { field: "type" });
    for (const name of [undefined, null, 1, ["order"]])
      assertError("invalid_type", () => ids.of(name), { field: "type" });
    assert.equal(new IdType(ids, "order").encode(0), ZERO_ID);
    for (const other of [undefined, {}, SECRET, Object.create(Keyring.prototype)])
      assertError("invalid_type", () => new IdType(other, "order"), { field: "keyring" });
  });

  test("the secret is copied, and never shown", () => {
    const given = Uint8Array.from(SECRET);
    const own = new Keyring(given);
    given.fill(0);
    assert.equal(own.of("order").encode(0), ZERO_ID);
    for (const shown of [own, own.of("order")]) {
      assert.equal(JSON.stringify(shown), "{}");
      assert.match(inspect(shown, { showHidden: true, depth: 9 }), /^(Keyring|IdType) \{\}$/);
      assert.match(String(shown), /^(Keyring|IdType) \{\}$/);
      assert.throws(() => structuredClone(shown));
    }
  });

  test("the schema decodes a string to its integer", () => {
    const { validate, jsonSchema, vendor } = orders.schema["~standard"];
    assert.equal(vendor, "polyflake");
    assert.deepEqual(validate(ZERO_ID), { value: 0 });
    assert.deepEqual(wideType.schema["~standard"].validate(wideType.encode(0n)), { value: 0n });
    assert.equal(validate(7).issues[0].code, "invalid_type");
    assert.equal(validate("invoice_1abpg7dgwhjba5j").issues[0].code, "type_mismatch");
    assert.deepEqual(
      validate(ZERO_ID.replace("7", "L")).issues.map(({ code, position }) => [code, position]),
      [["invalid_character", 11]],
    );
    const { pattern, examples } = jsonSchema.input({ target: "draft-2020-12" });
    for (const text of [ZERO_ID, ...examples]) assert.match(text, new RegExp(pattern));
    for (const text of [ZERO_ID.toUpperCase(), ZERO_ID.replace("_1a", "_1g"), `${ZERO_ID}0`, `a${ZERO_ID}`])
      assert.doesNotMatch(text, new RegExp(pattern));
    assertError("invalid_type", () => jsonSchema.output({ target: "draft-07" }));
  });
});

test("no secret remains in the scratch area", () => {
  const secrets = { 3: Uint8Array.from({ length: 32 }, (_, k) => 201 + k), 4: new Uint8Array(32).fill(199) };
  new native.public.Keyring(secrets);
  const addon = createRequire(import.meta.url)(`../prebuilds/${currentPlatform().name}/polyflake.node`);
  const { area } = addon.attach(new Uint8Array(72 * 8 + 16_384));
  for (const secret of Object.values(secrets)) assert(!Buffer.from(area).includes(Buffer.from(secret.subarray(0, 8))));
});

test("polyflake/public exports the same objects as the namespace", async () => {
  const [esm, cjs] = [await import("polyflake/public"), createRequire(import.meta.url)("polyflake/public")];
  const { public: namespace } = await import("polyflake");
  for (const name of Object.keys(namespace))
    for (const its of [esm, cjs]) assert.equal(its[name], namespace[name], name);
  assert.deepEqual(Object.keys(cjs).sort(), Object.keys(namespace).sort());
});

test("polyflake/public uses the backend that the environment selects", () => {
  const script = `import { Keyring } from "polyflake/public"; import { backend } from "polyflake";
    console.log(backend(), new Keyring(Uint8Array.from({ length: 32 }, (_, k) => k)).of("order").encode(0));`;
  for (const backend of ["native", "wasm"]) {
    const options = { cwd: new URL(".", import.meta.url), env: { ...process.env, POLYFLAKE_BACKEND: backend } };
    const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
      ...options,
      encoding: "utf8",
    });
    assert.equal(printed, `${backend} ${ZERO_ID}\n`);
  }
});
