// Tests version 7 UUIDs: fields, order, clock rollbacks, worker IDs and random bits. tests/conformance tests the
// vectors.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertError, NOW, scriptedClock } from "./assertions.mjs";
import { nonTextsFor } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";

const ID = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
const PARTS = { unixMs: 1_645_557_742_000, sequence: 0x330d8, random: 0xc4_dc0c_0c07_398fn };
const isSorted = (ids) => ids.every((id, k) => k === 0 || ids[k - 1] < id);

onEachMachine(({ uuid7 }) => {
  const { Generator, Uuid7Array } = uuid7;

  test("both cases are read and lowercase is written", () => {
    assert.equal(uuid7.fromParts(PARTS), ID);
    assert.equal(uuid7.parse(ID.toUpperCase()), ID);
    assert.deepEqual(uuid7.parts(ID.toUpperCase()), PARTS);
    assert.equal(uuid7.isValid(ID.toUpperCase()), true);
    assert.deepEqual([uuid7.unixMs(ID), uuid7.workerId(ID)], [PARTS.unixMs, 0xc4dc]);
  });

  test("strings and bytes sort identically and round-trip", () => {
    const parts = fc.record({
      unixMs: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
      sequence: fc.integer({ min: 0, max: 2 ** 18 - 1 }),
      random: fc.bigInt(0n, (1n << 56n) - 1n),
    });
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const [x, y] = [a, b].map(uuid7.fromParts);
        assert.deepEqual(uuid7.parts(x), { ...a });
        assert.equal(uuid7.fromBytes(uuid7.toBytes(x)), x);
        assert.equal(x < y, Buffer.compare(uuid7.toBytes(x), uuid7.toBytes(y)) < 0);
        const array = Uuid7Array.from([x, y]);
        assert.deepEqual([...array.unixMs()], [a.unixMs, b.unixMs]);
        assert.deepEqual([...array.sequences()], [a.sequence, b.sequence]);
        assert.deepEqual([...array.workerIds()], [x, y].map(uuid7.workerId));
      }),
    );
  });

  test("IDs for given times have these times and differ", () => {
    const timeOf = (row) => 2 ** 48 - 1 - Math.max(row - 10_000, 0);
    const rows = Array.from({ length: 100_000 }, (_, row) => uuid7.generateAt(timeOf(row)));
    assert.equal(rows.filter((id, row) => uuid7.unixMs(id) !== timeOf(row)).length, 0);
    assert.equal(new Set(rows).size, rows.length);
    assert.equal(uuid7.unixMs(uuid7.generateAt(new Date(NOW))), NOW);
    for (const wrong of [-1, 2 ** 48, new Date(-1)])
      assertError("time_out_of_range", () => uuid7.generateAt(wrong), { field: "time" });
    assertError("invalid_type", () => uuid7.generateAt("2026-01-01"), { field: "time" });
  });

  test("invalid strings and UUIDs of other versions and variants are rejected", () => {
    const others = ["-4cc3-98c4-", "-8cc3-98c4-", "-7cc3-18c4-", "-7cc3-c8c4-"].map((marks) =>
      ID.replace("-7cc3-98c4-", marks),
    );
    for (const name of ["parse", "parts", "unixMs", "workerId", "toBytes"]) {
      for (const value of nonTextsFor(ID)) assertError("invalid_type", () => uuid7[name](value));
      for (const text of ["", ID.slice(1), ID.replaceAll("-", ""), `urn:uuid:${ID}`])
        assertError("invalid_length", () => uuid7[name](text));
      assertError("invalid_character", () => uuid7[name](`${ID.slice(0, 8)}0${ID.slice(9)}`), { position: 8 });
      for (const other of others) assertError("not_canonical", () => uuid7[name](other));
    }
    for (const other of others) {
      assert.equal(uuid7.isValid(other), false);
      const bytes = Uint8Array.from(Buffer.from(other.replaceAll("-", ""), "hex"));
      assertError("not_canonical", () => uuid7.fromBytes(bytes), { field: "id" });
      assertError("not_canonical", () => Uuid7Array.from([ID, other]), { item: 1 });
      assertError("not_canonical", () => new Uuid7Array(bytes).texts());
    }
    for (const length of [0, 15, 17])
      assertError("invalid_length", () => uuid7.fromBytes(new Uint8Array(length)), { field: "id" });
  });

  test("fields out of range are rejected", () => {
    for (const unixMs of [-1, 2 ** 48])
      assertError("time_out_of_range", () => uuid7.fromParts({ ...PARTS, unixMs }), { field: "unixMs" });
    for (const sequence of [-1, 2 ** 18])
      assertError("out_of_range", () => uuid7.fromParts({ ...PARTS, sequence }), { field: "sequence" });
    for (const random of [-1n, 1n << 56n, 1n << 4096n])
      assertError("out_of_range", () => uuid7.fromParts({ ...PARTS, random }), { field: "random" });
    assertError("invalid_type", () => uuid7.fromParts({ ...PARTS, random: 1 }), { field: "random" });
  });

  test("time ranges contain exactly the IDs of their milliseconds", () => {
    const { lowest, highest } = uuid7.timeRange(NOW, new Date(NOW + 2));
    assert.deepEqual(uuid7.parts(lowest), { unixMs: NOW, sequence: 0, random: 0n });
    assert.deepEqual(uuid7.parts(highest), { unixMs: NOW + 1, sequence: 2 ** 18 - 1, random: (1n << 56n) - 1n });
    assertError("out_of_range", () => uuid7.timeRange(NOW, NOW));
    assertError("time_out_of_range", () => uuid7.timeRange(-1, NOW));
  });

  test("single IDs, batches and asynchronous calls are sorted as they were made", async () => {
    const ids = new Generator();
    const made = [];
    for (let round = 0; round < 50; round++) {
      made.push(ids.generate(), ids.tryGenerate(), await ids.generateAsync());
      made.push(...ids.generateMany(300), ...ids.tryGenerateMany(20), ...(await ids.generateManyAsync(20)));
    }
    assert(isSorted(made), "sorted");
    assert(made.every((id) => uuid7.isValid(id) && Math.abs(uuid7.unixMs(id) - Date.now()) < 60_000));
  });

  test("200,000 IDs of a few milliseconds are sorted", () => {
    assert(isSorted(new Generator().generateMany(200_000).texts()), "a batch");
    const ids = new Generator();
    assert(isSorted(Array.from({ length: 200_000 }, () => ids.generate())), "single calls");
  });

  test("after a rollback the millisecond is used up, and no ID is later than the clock was", () => {
    const time = { now: NOW };
    const ids = new Generator({ testClock: () => time.now, maxWait: 0 });
    const first = ids.generate();
    time.now = NOW - 3_600_000;
    const held = ids.generateMany(2 ** 18 - 1 - uuid7.parts(first).sequence);
    assert(isSorted([first, ...held]) && uuid7.unixMs(held.at(-1)) === NOW);
    assertError("clock_behind", () => ids.generate(), { retryAt: NOW + 1 });
    assertError("clock_behind", () => ids.tryGenerate(), { retryAt: NOW + 1 });
    time.now = NOW + 1;
    assert.equal(uuid7.unixMs(ids.generate()), NOW + 1);
    assert.equal(ids.stats().rollbacks, 0);
  });

  test("followRollbacks starts over after a rollback of more than 10 seconds", () => {
    const clock = scriptedClock(NOW, NOW - 10_000, NOW - 10_001);
    const ids = new Generator({ testClock: clock, followRollbacks: true });
    const times = Array.from({ length: 3 }, () => uuid7.unixMs(ids.generate()));
    assert.deepEqual(times, [NOW, NOW, NOW - 10_001]);
    assert.equal(ids.stats().rollbacks, 1);
    const both = { followRollbacks: true, workerId: 1 };
    const { message } = assertError("out_of_range", () => new Generator(both), { field: "followRollbacks" });
    assert.equal(message, "expected either `workerId` or `followRollbacks`, found both");
    for (const followRollbacks of [null, 0, 1, "yes"])
      assertError("invalid_type", () => new Generator({ followRollbacks }), { field: "followRollbacks" });
  });

  test("a worker ID is in each ID, before random bits", async () => {
    const ids = new Generator({ workerId: 0xc0de, testClock: () => NOW });
    const made = [ids.generate(), ids.tryGenerate(), await ids.generateAsync(), ...ids.generateMany(100)];
    assert(made.every((id) => uuid7.workerId(id) === 0xc0de));
    const tails = new Set(made.map((id) => uuid7.parts(id).random & 0xff_ffff_ffffn));
    assert.equal(tails.size, made.length);
    assert.deepEqual([ids.stats().workerId, new Generator().stats().workerId], [0xc0de, undefined]);
    for (const workerId of [-1, 65_536])
      assertError("out_of_range", () => new Generator({ workerId }), { field: "workerId" });
    for (const workerId of [null, "1", 1.5, 1n])
      assertError("invalid_type", () => new Generator({ workerId }), { field: "workerId" });
  });

  test("a generator resumes after the last millisecond of an earlier one", () => {
    const clock = () => NOW;
    const earlier = new Generator({ testClock: clock, workerId: 7 });
    assert.deepEqual(earlier.stats(), { workerId: 7, lastMs: undefined, rollbacks: 0, closed: false });
    earlier.generateMany(10);
    assert.deepEqual(earlier.stats(), { workerId: 7, lastMs: NOW, rollbacks: 0, closed: false });
    const resumeAfter = earlier.close();
    assert.equal(resumeAfter, NOW);
    assert.equal(earlier.stats().closed, true);
    for (const last of [resumeAfter, new Date(resumeAfter)]) {
      const resumed = new Generator({ resumeAfter: last, testClock: scriptedClock(NOW, NOW + 1), maxWait: 0 });
      assertError("sequence_exhausted", () => resumed.generate(), { retryAt: NOW + 1 });
      assert.equal(uuid7.unixMs(resumed.generate()), NOW + 1);
    }
    assert.equal(new Generator().close(), undefined);
    const { message } = assertError("out_of_range", () => new Generator({ resumeAfter: -1 }), { field: "resumeAfter" });
    assert.equal(message, "expected resumeAfter from 0 to 9223372036854 ms, found -1");
    assertError("invalid_type", () => new Generator({ resumeAfter: "now" }), { field: "resumeAfter" });
  });

  test("two generators of one millisecond share no random bits", () => {
    const [one, other] = [new Generator({ testClock: () => NOW }), new Generator({ testClock: () => NOW })];
    const randoms = [...one.generateMany(2000), ...other.generateMany(2000)].map((id) => uuid7.parts(id).random);
    assert.equal(new Set(randoms).size, 4000);
    const starts = Array.from({ length: 200 }, () => uuid7.parts(new Generator({ testClock: () => NOW }).generate()));
    assert(starts.every(({ sequence }) => sequence < 2 ** 17));
    assert(new Set(starts.map(({ sequence }) => sequence)).size > 150, "each millisecond starts at random");
  });
});
