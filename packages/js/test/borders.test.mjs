// Tests which bytes, options and snapshots are accepted from callers and which are rejected. sweep.test.mjs passes
// every value to every call.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertError, NOW } from "./assertions.mjs";
import {
  detachedBytes,
  MisreportingArray,
  NON_INTEGERS,
  NON_NUMBERS,
  nonBytesFor,
  throwingProxy,
} from "./catalogue.mjs";
import { END, familiesOf, SECRET, START } from "./families.mjs";
import { onEachMachine } from "./machines.mjs";

const ID = "a7rdmuv326nct5if";

onEachMachine((polyflake) => {
  const { hotguid, layout, randflake, sno, sparx64, uuid7 } = polyflake;
  const { Generator, SnoArray } = sno;
  const families = familiesOf(polyflake);

  const grant = new randflake.Grant(1, START, END);
  const cipher = new sparx64.Sparx64(SECRET);

  /**
   * Functions that read bytes. Each function is followed by the expected length, the error code for any other length,
   * and the argument's name.
   */
  const BYTES = {
    "sno.fromBytes": [sno.fromBytes, 10, "invalid_length", "id"],
    "hotguid.fromBytes": [hotguid.fromBytes, 16, "invalid_length", "id"],
    "hotguid.fromDotnetBytes": [hotguid.fromDotnetBytes, 16, "invalid_length", "id"],
    Codec: [(secret) => new randflake.Codec(secret).inspect(1n), 16, "invalid_secret", "secret"],
    "Randflake's Generator": [
      (secret) => new randflake.Generator(grant, secret).inspect(1n),
      16,
      "invalid_secret",
      "secret",
    ],
    Sparx64: [(key) => new sparx64.Sparx64(key).encrypt(new Uint8Array(8)), 16, "invalid_secret", "key"],
    encrypt: [(block) => cipher.encrypt(block), 8, "invalid_length", "block"],
    decrypt: [(block) => cipher.decrypt(block), 8, "invalid_length", "block"],
  };

  for (const [name, [read, length, code, field]] of Object.entries(BYTES)) {
    test(`bytes for ${name} are validated and copied`, () => {
      for (const value of nonBytesFor(length)) assertError("invalid_type", () => read(value), { field });
      for (const other of [0, length - 1, length + 1, 2 * length, 1 << 20])
        assertError(code, () => read(new Uint8Array(other)), { field });
      assertError(code, () => read(detachedBytes(length)), { field });
      const given = Uint8Array.from({ length }, (_, k) => k * 7);
      const answer = read(given);
      const shared = new Uint8Array(new SharedArrayBuffer(length));
      shared.set(given);
      for (const same of [shared, Buffer.from(given), Uint8Array.of(9, ...given, 9).subarray(1, length + 1)])
        assert.deepEqual(read(same), answer);
      assert.deepEqual(read(new MisreportingArray(length)), read(new Uint8Array(length)));
    });
  }

  /**
   * Classes and functions that wrap or read packed IDs. Each entry lists a function that creates an array, the
   * argument's name, and a valid argument.
   */
  const ARRAY_CLASSES = {
    SnoArray: [(ids) => new SnoArray(ids), "bytes", new Uint8Array(30), "2".repeat(16)],
    Uuid7Array: [(ids) => new uuid7.Uuid7Array(ids), "bytes", uuid7.generateMany(3).bytes],
    HotGuidArray: [(ids) => new hotguid.HotGuidArray(ids), "bytes", new Uint8Array(48)],
    RandflakeArray: [(ids) => new randflake.RandflakeArray(ids), "ids", new BigInt64Array(3), 0n],
    "LayoutArray of integers": [(ids) => new layout.LayoutArray(ids), "packed", new BigInt64Array(3), 0n],
    "LayoutArray of bytes": [(ids) => new layout.LayoutArray(ids, 2), "packed", new Uint8Array(6), new Uint8Array(2)],
    encryptMany: [(ids) => Array.from({ length: cipher.encryptMany(ids).length / 8 }), "blocks", new Uint8Array(24)],
  };

  for (const [name, [make, field, ids]] of Object.entries(ARRAY_CLASSES)) {
    test(name, () => {
      const isBytes = ids instanceof Uint8Array;
      const others = [
        new BigUint64Array(3),
        new Float64Array(3),
        new Uint8ClampedArray(24),
        new DataView(new ArrayBuffer(24)),
      ];
      for (const value of [undefined, null, ID, [], [1n], new ArrayBuffer(24), throwingProxy, ...others])
        assertError("invalid_type", () => make(value), { field });
      if (isBytes) assertError("invalid_length", () => make(ids.subarray(1)));
      assert.equal([...make(ids)].length, 3);
      // Detaching the buffer of `ids` empties the array.
      const array = name === "encryptMany" ? undefined : make(ids);
      structuredClone(ids.buffer, { transfer: [ids.buffer] });
      if (array) assert.deepEqual([array.length, [...array], array.at(0)], [0, [], undefined]);
      else assert.equal(make(ids).length, 0);
    });
  }

  test("an array whose buffer shrinks during iteration returns the items already read", () => {
    const resizable = new ArrayBuffer(30, { maxByteLength: 60 });
    const shrinking = new SnoArray(new Uint8Array(resizable));
    const seen = [];
    for (const text of shrinking) {
      seen.push(text);
      resizable.resize?.(10);
    }
    assert.equal(seen.length, 3);
    for (const index of [undefined, ...NON_NUMBERS, ...NON_INTEGERS])
      assertError("invalid_type", () => shrinking.at(index));
  });

  test("partitions are accepted as two bytes", () => {
    for (const bytes of [...[0, 1, 3].map((length) => new Uint8Array(length)), detachedBytes(2)])
      assertError("invalid_length", () => new Generator({ partition: bytes }), { field: "partition" });
    for (const value of [new Uint16Array(2), new DataView(new ArrayBuffer(2)), new ArrayBuffer(2), [1, 2]])
      assertError("invalid_type", () => new Generator({ partition: value }), { field: "partition" });
    const shared = new Uint8Array(new SharedArrayBuffer(2)).fill(1);
    assert.equal(new Generator({ partition: shared }).partition, 257);
    assert.equal(new Generator({ partition: Buffer.from([2, 1]) }).partition, 513);
  });

  for (const [name, { make }] of Object.entries(families)) {
    test(`invalid options of ${name} are rejected`, () => {
      const options = {
        onExhausted: { invalid: [null, 0, {}, Symbol("s"), new String("wait")], outside: ["", "Wait", "raise"] },
        clock: { invalid: [null, 0, "now", {}, Symbol("s")] },
        testClock: { invalid: [null, 0, "now", {}, Symbol("s")] },
        onStall: { invalid: [null, 0, "f", {}] },
        window: { invalid: [null, 0, "ab", {}, [], [NOW], [NOW, NOW + 4, NOW + 8], { length: 2 }] },
      };
      if (name === "randflake") delete options.window;
      for (const [field, { invalid: wrong, outside = [] }] of Object.entries(options)) {
        for (const value of wrong) assertError("invalid_type", () => make(1, { [field]: value }), { field });
        for (const value of outside) assertError("out_of_range", () => make(1, { [field]: value }), { field });
      }
      assertError("unknown_field", () => make(1, { max_wait: 4 }), { field: "max_wait" });
    });
  }

  test("sequence bounds that are too narrow or reversed are rejected", () => {
    for (const sequenceMin of [10, 13])
      assertError("out_of_range", () => new Generator({ sequenceMin, sequenceMax: 12 }), { field: "sequenceMax" });
  });

  test("invalid times are rejected", () => {
    const ids = families.sno.make(1);
    const calls = [
      (value) => ids.generateAt(value),
      (value) => ids.extendWindow(value),
      (value) => sno.timeRange(value, NOW),
      (value) => sno.timeRange(NOW, value),
      (value) => hotguid.timeRange(value, NOW),
      (value) => uuid7.timeRange(NOW, value),
      (value) => layout.Layout.preset("discord").timeRange(NOW, value),
      (value) => new Generator({ window: [value, NOW] }),
      (value) => new Generator({ window: [NOW, value] }),
    ];
    for (const value of [undefined, ...NON_NUMBERS, ...NON_INTEGERS, "2026-01-01", { getTime: () => NOW }])
      for (const call of calls) assertError("invalid_type", () => call(value));
  });

  test("parts with a missing or mistyped member are rejected", () => {
    const readers = [
      [sno.fromParts, sno.parse(ID), ["unixMs", "timestamp"]],
      [hotguid.fromParts, { timestamp: 1, machine: new Uint8Array(5), counter: 1, shardKey: 1 }, []],
      [hotguid.fromUuid8Parts, { timestamp: 1, machine: 1, counter: 1, shardKey: 1 }, []],
      [uuid7.fromParts, { unixMs: 1, sequence: 1, random: 1n }, ["random"]],
    ];
    for (const [make, parts, unread] of readers) {
      for (const field of Object.keys(parts).filter((name) => !unread.includes(name))) {
        const { [field]: _, ...others } = parts;
        assertError("missing_field", () => make(others), { field });
        for (const value of [null, "1", 1n, Symbol("s"), {}])
          assertError("invalid_type", () => make({ ...parts, [field]: value }), { field });
      }
      for (const value of [undefined, null, 0, ID]) assertError("invalid_type", () => make(value));
    }
    assertError("invalid_type", () => sno.fromParts({ ...sno.parse(ID), tickTock: 1 }), { field: "tickTock" });
    for (const length of [0, 4, 6])
      assertError("invalid_length", () => hotguid.fromParts({ ...readers[1][1], machine: new Uint8Array(length) }), {
        field: "machine",
      });
  });

  test("malformed sno snapshots are rejected", () => {
    const snapshot = families.sno.make(1).close();
    for (const make of [Generator.restore, Generator.importOriginal]) {
      for (const field of Object.keys(snapshot)) {
        const { [field]: _, ...others } = snapshot;
        // Snapshots from the original Go library have no `format`.
        if (field !== "format") assertError("missing_field", () => make(others), { field });
        for (const wrong of [null, "1", 1n, Symbol("s"), 1.5, NaN, {}])
          assertError("invalid_type", () => make({ ...others, [field]: wrong }), { field });
        if (field === "partition") continue;
        for (const outside of [-1, 2 ** 53, 1e300])
          assertError("out_of_range", () => make({ ...others, [field]: outside }), { field });
      }
      assertError("out_of_range", () => make({ ...snapshot, format: 2 }), { field: "format" });
      const restoreWithPartition = (partition) => () => make({ ...snapshot, partition });
      for (const partition of [[1], [1, 2, 3], [1.5, 0], ["1", "2"]])
        assertError("invalid_type", restoreWithPartition(partition));
      assertError("out_of_range", restoreWithPartition([-1, 0]), { field: "partition" });
      assertError("out_of_range", restoreWithPartition([0, 256]), { field: "partition" });
      assertError("unknown_field", () => make({ ...snapshot, closed: true }), { field: "closed" });
      for (const field of ["partition", "sequenceMin"])
        assertError("unknown_field", () => make(snapshot, { [field]: 2 }), { field });
      for (const value of [undefined, null, 0, JSON.stringify(snapshot)])
        assertError("invalid_type", () => make(value));
    }
  });

  test("errors expose their details, also in JSON", () => {
    const given = { position: 1, field: "f", retryAt: 2, written: 3, item: 4, cause: "theirs" };
    const error = new polyflake.PolyflakeError("clock_behind", "late", given);
    assert.deepEqual({ ...error }, { code: "clock_behind", ...given });
    const { code, message, position } = assertError("invalid_character", () => sno.parse("9q6kc9o37a32432!"));
    const asJson = JSON.parse(JSON.stringify(assertError("invalid_character", () => sno.parse("9q6kc9o37a32432!"))));
    assert.deepEqual(asJson, { code, message, field: "text", position });
    assert.equal(position, 15);
  });
});
