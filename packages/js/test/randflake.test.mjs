// Tests the strings, grants and special features of Randflake. tests/conformance tests the vectors, and how generators
// with a grant behave over time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import { assertError } from "./assertions.mjs";
import { nonTextsFor } from "./catalogue.mjs";
import { END, SECRET, START } from "./families.mjs";
import { onEachMachine } from "./machines.mjs";

const NOW_SECONDS = 1_763_650_000;

onEachMachine(({ randflake }) => {
  const { Codec, decodeText, encodeText, Generator, Grant } = randflake;
  const codec = new Codec(SECRET);
  /** Creates a generator for node 1. Its clock is a function, or a fixed number of seconds. */
  const generatorAt = (clock, options = {}) =>
    new Generator(new Grant(1, START, END), SECRET, {
      testClock: typeof clock === "number" ? () => clock * 1000 : clock,
      ...options,
    });

  test("invalid strings are rejected", () => {
    for (const length of [0, 14, 17, 64, 1 << 20]) {
      const { message } = assertError("invalid_length", () => decodeText("1".repeat(length)));
      assert.equal(message, `expected length 1 to 13, found ${length}`);
    }
    for (const bad of ["A", "w", "=", "\0", "\ufeff", "\uff11", "\u0661", "а", "\u212a", "\ud800", "š", "😀"])
      assertError("invalid_character", () => decodeText(`1${bad}1`), { position: 1 });
    assertError("not_canonical", () => decodeText("01"));
    assertError("out_of_range", () => decodeText("g000000000000"));
    for (const value of nonTextsFor("1")) assertError("invalid_type", () => decodeText(value));
  });

  test("every integer round-trips through its string, unsigned value and parts", () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (id) => {
        const [text, unsigned] = [encodeText(id), randflake.toUnsigned(id)];
        assert.deepEqual([unsigned, text], [BigInt.asUintN(64, id), unsigned.toString(32)]);
        assert.deepEqual([decodeText(text), randflake.fromUnsigned(unsigned)], [id, id]);
        assert.equal(codec.encrypt(codec.inspect(id)), id);
      }),
    );
  });

  test("secrets are copied and never shown", () => {
    const grant = new Grant(1, START, END);
    const shown = new TextEncoder().encode("sixteen byte key");
    const parts = { timestamp: NOW_SECONDS, node: 9, sequence: 3 };
    const id = new Codec(shown).encrypt(parts);
    const seen = [];
    const record = (value) =>
      seen.push(inspect(value, { showHidden: true, depth: 9 }), JSON.stringify(value), String(value));
    for (const make of [(secret) => new Codec(secret), (secret) => new Generator(grant, secret)]) {
      const given = shown.slice();
      const made = make(given);
      given.fill(0);
      assert.deepEqual(made.inspect(id), parts);
      record(made);
      for (const call of [() => make(shown.subarray(1)), () => make("sixteen byte key"), () => made.inspect(0)]) {
        assert.throws(call, (error) => {
          record(error);
          return seen.push(error.stack, error.message) > 0;
        });
      }
    }
    for (const text of seen) assert(!text?.includes("sixteen") && !text?.includes("115, 105, 120"), text);
  });

  test("invalid grants are rejected", () => {
    const grant = new Grant([3, 7], START, END);
    assert.deepEqual([grant.nodes, grant.start, grant.end], [[3, 7], START, END]);
    assert.deepEqual(new Grant(3, START, END).nodes, [3, 3]);
    assert.deepEqual(new Grant(new Uint32Array([3, 7]), START, END), grant);
    assert(Object.isFrozen(grant) && Object.isFrozen(grant.nodes));
    assertError("out_of_range", () => new Grant([7, 3], START, END));
    for (const value of [undefined, null, "1", [1], [1, 2, 3], {}, new Date()])
      assertError("invalid_type", () => new Grant(value, START, END));
    for (const value of [undefined, null, 0, {}, { nodes: 1 }]) {
      assertError("invalid_type", () => new Generator(value, SECRET));
      assertError("invalid_type", () => generatorAt(NOW_SECONDS).extendGrant(value));
    }
    assertError("out_of_range", () => new Generator({ nodes: [0, 131_072], start: START, end: END }, SECRET));
    assert.deepEqual(new Generator({ ...grant }, SECRET).grant, grant);
  });

  test("a grant can be extended", () => {
    let now = NOW_SECONDS + 2;
    const ids = new Generator(new Grant(1, NOW_SECONDS, NOW_SECONDS + 2), SECRET, { testClock: () => now * 1000 });
    assertError("lease_expired", () => ids.generate());
    const longer = new Grant(1, NOW_SECONDS, NOW_SECONDS + 3);
    for (const grant of [longer, new Grant(1, NOW_SECONDS, NOW_SECONDS + 1)]) {
      ids.extendGrant(grant);
      assert.deepEqual(ids.grant, longer);
    }
    assert(ids.grant instanceof Grant);
    assert.deepEqual(ids.inspect(decodeText(ids.generateText())), { timestamp: now, node: 1, sequence: 0 });
    assertError("lease_mismatch", () => ids.extendGrant(new Grant(2, NOW_SECONDS, END)));
    now = NOW_SECONDS - 1;
    const early = new Generator(new Grant(1, NOW_SECONDS, END), SECRET, { testClock: () => now * 1000 });
    assertError("lease_not_started", () => early.generate(), { retryAt: NOW_SECONDS * 1000 });
  });

  test("a range continues with the next node", () => {
    const ids = new Generator(new Grant([5, 6], START, END), SECRET, { testClock: () => NOW_SECONDS * 1000 });
    const many = ids.generateMany(131_073);
    assert.deepEqual(
      [many.at(131_071), many.at(131_072)].map((id) => ids.inspect(id)),
      [
        { timestamp: NOW_SECONDS, node: 5, sequence: 131_071 },
        { timestamp: NOW_SECONDS, node: 6, sequence: 0 },
      ],
    );
  });

  test("a closed generator returns the second to resume after", () => {
    const ids = generatorAt(NOW_SECONDS);
    assert.deepEqual(ids.stats(), { lastSecond: undefined, len: 0, closed: false });
    ids.generate();
    assert.deepEqual(ids.stats(), { lastSecond: NOW_SECONDS, len: 1, closed: false });
    assert.equal(ids.close(), NOW_SECONDS);
    assertError("generator_closed", () => ids.generateText());
    assert.equal(generatorAt(NOW_SECONDS).close(), undefined);
    const next = generatorAt(NOW_SECONDS, { resumeAfter: NOW_SECONDS });
    assertError("sequence_exhausted", () => next.generate(), { retryAt: (NOW_SECONDS + 1) * 1000 });
  });

  test("inspectColumns equals inspecting each ID", () => {
    for (const count of [0, 1, 2, 1023, 1024, 1025, 3000]) {
      const spread = (_, k) => BigInt.asIntN(64, BigInt(k) * 0x9e37_79b9_7f4a_7c15n);
      const ids = BigInt64Array.from({ length: count }, spread);
      const parts = Array.from(ids, (id) => codec.inspect(id));
      assert.deepEqual(codec.inspectColumns(ids), {
        timestamp: Uint32Array.from(parts, ({ timestamp }) => timestamp),
        node: Uint32Array.from(parts, ({ node }) => node),
        sequence: Uint32Array.from(parts, ({ sequence }) => sequence),
      });
    }
    const many = new randflake.RandflakeArray(new BigInt64Array(1));
    for (const wrong of [undefined, 1n, [1n], new Float64Array(1), new BigUint64Array(1), many])
      assertError("invalid_type", () => codec.inspectColumns(wrong), { field: "ids" });
  });
});
