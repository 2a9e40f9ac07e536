// Randflake: texts and fields as in the originals, grants, generators.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import { detached, hostile, notATextOf, notBytesOf } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";
import { refused, scripted, vectors } from "./refusals.mjs";

const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));
const SECOND = 1_763_650_000;
const START = 1_730_000_000;
const END = 2_803_741_824;
const PER_NODE = 131_072;
const secret = bytes("dffd6021bb2bd5b0af676290809ec3a5");

onEachMachine(({ randflake }) => {
  const { Codec, decodeText, encodeText, Generator, Grant, RandflakeArray } = randflake;
  const codec = new Codec(secret);
  /** A generator, of node 1 by default, under a clock: a function, or a number of seconds at which it stands still. */
  const at = (clock, options = {}, nodes = 1) =>
    new Generator(new Grant(nodes, START, END), secret, {
      clock: typeof clock === "number" ? () => clock * 1000 : clock,
      ...options,
    });

  test("IDs, texts and fields are the originals', past 2041 too", () => {
    const { cases } = vectors("randflake");
    assert(cases.some(({ raw_bit63 }) => raw_bit63));
    for (const { secret, node_id: node, timestamp, sequence, encrypted_id, encoded } of cases) {
      const codec = new Codec(bytes(secret));
      const id = BigInt(encrypted_id);
      assert.equal(codec.encrypt({ timestamp, node, sequence }), id);
      assert.deepEqual(codec.inspect(id), { timestamp, node, sequence });
      assert.equal(encodeText(id), encoded);
      assert.equal(decodeText(encoded), id);
    }
  });

  test("texts that are refused", () => {
    const { cases, accepted_boundaries, ours } = vectors("randflake_invalid");
    for (const { input, ...rest } of cases) {
      const { code } = refused(rest.ours.error, () => decodeText(input));
      assert.equal(code, rest.ours.error, input);
    }
    for (const { input, value } of accepted_boundaries) assert.equal(decodeText(input), BigInt(value));
    assert.equal(Object.keys(ours).length > 0, true);
    refused("invalid_length", () => decodeText(""));
    for (const length of [14, 17, 63, 64, 65, 1 << 20]) {
      const { message } = refused("invalid_length", () => decodeText("1".repeat(length)));
      assert.equal(message, `expected length 1 to 13, found ${length}`);
    }
    for (const bad of [
      "A",
      "w",
      "z",
      "=",
      "-",
      " ",
      "\0",
      "\n",
      "\ufeff",
      "\uff11",
      "\u0661",
      "а",
      "\u212a",
      "\ud800",
      "š",
    ]) {
      refused("invalid_character", () => decodeText(`1${bad}1`), { position: 1 });
    }
    refused("invalid_character", () => decodeText("1😀"), { position: 1 });
    refused("not_canonical", () => decodeText("01"));
    refused("out_of_range", () => decodeText("g000000000000"));
    for (const value of notATextOf("1")) refused("invalid_type", () => decodeText(value));
  });

  test("every integer has one text, and comes back from it", () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (id) => {
        const text = encodeText(id);
        assert.equal(text, randflake.toUnsigned(id).toString(32));
        assert.equal(decodeText(text), id);
        const parts = codec.inspect(id);
        assert.equal(codec.encrypt(parts), id);
      }),
    );
  });

  test("secrets", () => {
    const grant = new Grant(1, START, END);
    for (const make of [(secret) => new Codec(secret), (secret) => new Generator(grant, secret)]) {
      for (const value of notBytesOf(16)) refused("invalid_type", () => make(value), { field: "secret" });
      for (const length of [0, 1, 15, 17, 32, 1 << 20]) refused("invalid_secret", () => make(new Uint8Array(length)));
      refused("invalid_secret", () => make(detached(16)));
      const given = Uint8Array.from(secret);
      const made = make(given);
      given.fill(0);
      assert.deepEqual(made.inspect(codec.encrypt({ timestamp: SECOND, node: 9, sequence: 3 })), {
        timestamp: SECOND,
        node: 9,
        sequence: 3,
      });
    }
  });

  test("no secret is in an error, a text or an inspection", () => {
    const shown = new TextEncoder().encode("sixteen byte key");
    const seen = [];
    const see = (value) =>
      seen.push(inspect(value, { showHidden: true, depth: 9 }), JSON.stringify(value), String(value));
    const ids = new Generator(new Grant(1, START, END), shown, { clock: () => SECOND * 1000 });
    [ids, new Codec(shown)].forEach(see);
    for (const call of [
      () => new Codec(shown.subarray(1)),
      () => new Codec("sixteen byte key"),
      () => ids.generateMany(PER_NODE + 1),
      () => ids.inspect(0),
    ]) {
      try {
        call();
      } catch (error) {
        see(error);
        seen.push(error.stack, error.message);
      }
    }
    assert(seen.length > 10);
    for (const text of seen) assert(!text?.includes("sixteen") && !text?.includes("115, 105, 120"), text);
  });

  test("grants", () => {
    const grant = new Grant([3, 7], START, END);
    assert.deepEqual([grant.nodes, grant.start, grant.end], [[3, 7], START, END]);
    assert.deepEqual(new Grant(3, START, END).nodes, [3, 3]);
    assert.deepEqual(new Grant(new Uint32Array([3, 7]), START, END), grant);
    assert(Object.isFrozen(grant) && Object.isFrozen(grant.nodes));
    for (const [nodes, start, end] of [
      [[7, 3], START, END],
      [1, SECOND, SECOND],
      [1, SECOND + 1, SECOND],
      [1, START - 1, END],
      [1, START, END + 1],
    ]) {
      refused("out_of_range", () => new Grant(nodes, start, end));
    }
    for (const value of [undefined, null, "1", [1], [1, 2, 3], {}, new Date()])
      refused("invalid_type", () => new Grant(value, START, END));
    for (const value of [undefined, null, 0, {}, { nodes: 1 }])
      refused("invalid_type", () => new Generator(value, secret));
    refused("out_of_range", () => new Generator({ nodes: [0, 131_072], start: START, end: END }, secret));
    assert.equal(
      new Generator({ nodes: [5, 5], start: START, end: END }, secret, { clock: () => SECOND * 1000 }).grant.nodes[0],
      5,
    );
  });

  test("the sequence starts at 0 in each second, and the ID has the node", () => {
    let now = SECOND;
    const ids = at(() => now * 1000 + 999);
    const parts = () => ids.inspect(ids.generate());
    assert.deepEqual(
      [parts(), parts()],
      [0, 1].map((sequence) => ({ timestamp: SECOND, node: 1, sequence })),
    );
    assert.deepEqual(ids.inspect(decodeText(ids.generateText())), { timestamp: SECOND, node: 1, sequence: 2 });
    now += 1;
    assert.deepEqual(parts(), { timestamp: SECOND + 1, node: 1, sequence: 0 });
    assert.deepEqual(ids.stats(), { lastSecond: SECOND + 1, len: 1, closed: false });
  });

  test("an exhausted second fails at once, and the next is usable", () => {
    let now = SECOND;
    const ids = at(() => now * 1000);
    assert.equal(new Set(ids.generateMany(PER_NODE)).size, PER_NODE);
    refused("sequence_exhausted", () => ids.generate(), { retryAt: (SECOND + 1) * 1000, written: undefined });
    refused("sequence_exhausted", () => ids.generateMany(1), { written: 0 });
    now += 1;
    refused("sequence_exhausted", () => ids.generateMany(PER_NODE + 7), { written: PER_NODE });
    now -= 1;
    refused("clock_behind", () => ids.generate(), { retryAt: (SECOND + 1) * 1000 });
    now += 2;
    assert.equal(ids.inspect(ids.generate()).sequence, 0);
  });

  test("a range of nodes goes on with the next one", () => {
    const ids = at(SECOND, {}, [5, 6]);
    const many = ids.generateMany(2 * PER_NODE);
    assert.deepEqual(ids.inspect(many.at(PER_NODE - 1)), { timestamp: SECOND, node: 5, sequence: PER_NODE - 1 });
    assert.deepEqual(ids.inspect(many.at(PER_NODE)), { timestamp: SECOND, node: 6, sequence: 0 });
    refused("sequence_exhausted", () => ids.generate());
  });

  test("asked to wait it waits, tells of it, and gives up in time", () => {
    const stalls = [];
    const readings = [0, 300, 700, 1000].map((ms) => SECOND * 1000 + ms);
    const options = { onExhausted: "wait", maxWait: 1000, onStall: (stall) => stalls.push(stall) };
    const full = at(scripted(...Array(PER_NODE / 1024).fill(readings[0]), ...readings), options);
    full.generateMany(PER_NODE);
    assert.deepEqual(full.inspect(full.generate()), { timestamp: SECOND + 1, node: 1, sequence: 0 });
    const told = stalls.map(({ sleptMs, ...stall }, sleeps) => ({ ...stall, hasSlept: sleptMs >= 10 * sleeps }));
    assert.deepEqual(
      told,
      [0, 300, 700].map((ms) => ({
        reason: "sequence_exhausted",
        unixMs: SECOND * 1000 + ms,
        stalled: 1,
        hasSlept: true,
      })),
    );
    assert.equal(stalls[0].sleptMs, 0);
    const frozen = at(SECOND, { onExhausted: "wait", maxWait: 5 });
    frozen.generateMany(PER_NODE);
    const before = Date.now();
    refused("sequence_exhausted", () => frozen.generate());
    assert(Date.now() - before < 1000);
  });

  test("what a callback for stalls throws comes out, and nothing is changed", () => {
    const thrown = new Error("no time for this");
    let now = SECOND;
    const ids = at(() => now * 1000, {
      onExhausted: "wait",
      onStall: () => {
        throw thrown;
      },
    });
    ids.generateMany(PER_NODE);
    assert.throws(
      () => ids.generate(),
      (error) => error === thrown,
    );
    now += 1;
    assert.equal(ids.inspect(ids.generate()).sequence, 0);
  });

  test("a grant holds, and is extended", () => {
    let now = SECOND - 1;
    const grant = new Grant(1, SECOND, SECOND + 2);
    const ids = new Generator(grant, secret, { clock: () => now * 1000 });
    refused("lease_not_started", () => ids.generate(), { retryAt: SECOND * 1000 });
    now = SECOND + 1;
    ids.generate();
    now = SECOND + 2;
    refused("lease_expired", () => ids.generate());
    ids.extendGrant(new Grant(1, SECOND, SECOND + 1));
    assert.deepEqual(ids.grant, grant);
    const longer = new Grant(1, SECOND, SECOND + 3);
    ids.extendGrant(longer);
    assert.deepEqual(ids.grant, longer);
    assert(ids.grant instanceof Grant);
    ids.generate();
    for (const other of [new Grant(2, SECOND, END), new Grant([1, 2], SECOND, END), new Grant(1, SECOND + 1, END)]) {
      refused("lease_mismatch", () => ids.extendGrant(other));
    }
    for (const value of [undefined, null, 0, {}]) refused("invalid_type", () => ids.extendGrant(value));
    for (const clock of [-1, 0, (END + 1) * 1000, 9e12]) {
      const far = at(() => clock);
      refused(clock < START ? "lease_not_started" : "lease_expired", () => far.generate());
    }
    for (const clock of [1e15, 1e300, -1e300]) refused("time_out_of_range", () => at(() => clock).generate());
  });

  test("a closed generator tells what to resume after", () => {
    const ids = at(SECOND);
    ids.generate();
    assert.equal(ids.close(), SECOND);
    for (const call of [() => ids.generate(), () => ids.generateText(), () => ids.generateMany(1), () => ids.close()])
      refused("generator_closed", call);
    assert.equal(ids.stats().closed, true);
    assert.equal(at(SECOND).close(), undefined);
    let now = SECOND;
    const next = at(() => now * 1000, { resumeAfter: SECOND });
    refused("sequence_exhausted", () => next.generate(), { retryAt: (SECOND + 1) * 1000 });
    now = SECOND - 1;
    refused("clock_behind", () => next.generate(), { retryAt: SECOND * 1000 });
    now = SECOND + 1;
    assert.equal(next.inspect(next.generate()).sequence, 0);
  });

  test("no reading that is no time gets through, and a clock may use its generator", () => {
    const thrown = new Error("the clock's own");
    const raise = () => {
      throw thrown;
    };
    const now = SECOND * 1000;
    const ids = at(scripted(now, NaN, Infinity, raise, undefined, "0", 0n, now));
    ids.generate();
    for (const _ of [1, 2]) refused("clock_failed", () => ids.generate());
    refused("clock_failed", () => ids.generate(), { cause: thrown });
    for (const _ of [1, 2, 3]) assert.equal(refused("clock_failed", () => ids.generate()).cause.code, "invalid_type");
    assert.equal(ids.inspect(ids.generate()).sequence, 1);
    const made = [];
    let depth = 0;
    const inner = at(() => {
      if (depth++ < 4) made.push(inner.generate(), ...inner.generateMany(3));
      depth--;
      return now;
    });
    made.push(inner.generate());
    assert(made.length > 10);
    assert.equal(new Set(made).size, made.length);
  });

  test("arrays are integers, and texts on request", () => {
    const ids = at(SECOND).generateMany(1500);
    assert.equal(ids.length, 1500);
    assert(ids.ids instanceof BigInt64Array);
    assert.deepEqual([...ids], [...ids.ids]);
    assert.deepEqual(ids.texts(), [...ids].map(encodeText));
    assert.equal(ids.at(-1), ids.ids[1499]);
    assert.equal(ids.at(1500), undefined);
    assert.deepEqual(new RandflakeArray(new BigInt64Array([0n, -1n, 1n])).texts(), ["0", "fvvvvvvvvvvvv", "1"]);
    for (const value of [
      undefined,
      null,
      [],
      [1n],
      new BigUint64Array(2),
      new Uint8Array(8),
      new ArrayBuffer(8),
      hostile,
    ]) {
      refused("invalid_type", () => new RandflakeArray(value), { field: "ids" });
    }
    const gone = new BigInt64Array(3);
    const array = new RandflakeArray(gone);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    assert.deepEqual([array.length, array.texts(), [...array], array.at(0)], [0, [], [], undefined]);
  });

  test("options", () => {
    const make = (options) => new Generator(new Grant(1, START, END), secret, options);
    for (const options of [null, 0, ""]) refused("invalid_type", () => make(options));
    for (const field of ["window", "metabyte", "resume_after"])
      refused("unknown_field", () => make({ [field]: 1 }), { field });
    for (const clock of [null, 0, "now", {}]) refused("invalid_type", () => make({ clock }), { field: "clock" });
    for (const onStall of [null, 0, "f", {}]) refused("invalid_type", () => make({ onStall }), { field: "onStall" });
    refused("out_of_range", () => make({ onExhausted: "raise" }), { field: "onExhausted" });
    assert.throws(() => Generator(new Grant(1, START, END), secret), TypeError);
  });

  test("describes itself", () => {
    assert.deepEqual(randflake.describe(), {
      bits: 64,
      fields: [
        { name: "timestamp", kind: "timestamp", offset: 0, bits: 30 },
        { name: "node", kind: "bindable", offset: 30, bits: 17 },
        { name: "sequence", kind: "sequence", offset: 47, bits: 17 },
      ],
      perSecond: 131_072n,
      perSecondInAll: 131_072n * 131_072n,
      firstMs: 1_730_000_000_000n,
      lastMs: 2_803_741_823_000n,
      sortsByTime: false,
      below2_53: false,
      below2_63: false,
    });
  });
});

onEachMachine(({ randflake }) => {
  test("the fields of many IDs are those of each", () => {
    const codec = new randflake.Codec(Uint8Array.from({ length: 16 }, (_, k) => k * 7));
    for (const count of [0, 1, 2, 1023, 1024, 1025, 3000]) {
      const ids = BigInt64Array.from({ length: count }, (_, k) =>
        BigInt.asIntN(64, BigInt(k) * 0x9e37_79b9_7f4a_7c15n),
      );
      const parts = Array.from(ids, (id) => codec.inspect(id));
      assert.deepEqual(codec.inspectColumns(ids), {
        timestamp: Uint32Array.from(parts, ({ timestamp }) => timestamp),
        node: Uint32Array.from(parts, ({ node }) => node),
        sequence: Uint32Array.from(parts, ({ sequence }) => sequence),
      });
    }
    const last = { timestamp: 2_803_741_823, node: 131_071, sequence: 131_071 };
    const { timestamp, node, sequence } = codec.inspectColumns(BigInt64Array.of(codec.encrypt(last)));
    assert.deepEqual({ timestamp: timestamp[0], node: node[0], sequence: sequence[0] }, last);
    for (const wrong of [
      undefined,
      1n,
      [1n],
      new Float64Array(1),
      new BigUint64Array(1),
      new randflake.RandflakeArray(new BigInt64Array(1)),
    ]) {
      refused("invalid_type", () => codec.inspectColumns(wrong), { field: "ids" });
    }
    refused("invalid_secret", () => new randflake.Codec(new Uint8Array(15)), { field: "secret" });
  });
});
