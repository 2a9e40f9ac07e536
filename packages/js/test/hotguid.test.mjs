// Hot Guid: texts, bytes and fields as in the original, byte orders, generators.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { detached, Lying, notATextOf, notBytesOf } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";
import { NOW, refused, scripted, vectors } from "./refusals.mjs";

const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const ID = "691f29d0-bbaa-ddcc-ee01-0203ffffff7f";
const PARTS = { timestamp: 1_763_650_000, machine: bytes("aabbccddee"), counter: 0x010203, shardKey: 0x7fff_ffff };
const PER_SECOND = 2 ** 24;

onEachMachine(({ hotguid }) => {
  const { Generator, HotGuidArray } = hotguid;

  test("texts, bytes and fields are the original's", () => {
    const { cases } = vectors("hotguid");
    assert(cases.length > 100);
    for (const {
      timestamp,
      machine_pid,
      counter,
      shard_key: shardKey,
      bytes_hex,
      text,
      sql_text,
      text_order_bytes_hex,
    } of cases) {
      const fields = { timestamp, machine: bytes(machine_pid), counter, shardKey };
      assert.deepEqual(hotguid.parts(text), fields);
      assert.equal(hotguid.fromParts(fields), text);
      assert.equal(hotguid.shardKey(text), shardKey);
      assert.equal(hotguid.timestamp(text), timestamp);
      assert.equal(hotguid.toSql(text), sql_text);
      assert.equal(hotguid.fromSql(sql_text), text);
      assert.equal(hex(hotguid.toDotnetBytes(text)), bytes_hex);
      assert.equal(hotguid.fromDotnetBytes(bytes(bytes_hex)), text);
      assert.equal(hex(hotguid.toBytes(text)), text_order_bytes_hex);
      assert.equal(hotguid.fromBytes(bytes(text_order_bytes_hex)), text);
    }
  });

  test("SQL Server's form is the original's, both ways", () => {
    for (const { guid, sql } of vectors("hotguid").conversions) {
      assert.equal(hotguid.toSql(guid), sql);
      assert.equal(hotguid.fromSql(sql), guid);
    }
  });

  test("either case is read, lower case is written", () => {
    assert.equal(hotguid.parse(ID.toUpperCase()), ID);
    assert.equal(hotguid.isValid(ID.toUpperCase()), true);
    assert.deepEqual(hotguid.parts(ID.toUpperCase()), PARTS);
    for (const convert of [hotguid.toSql, hotguid.fromSql]) assert.equal(convert(ID.toUpperCase()), convert(ID));
  });

  test("text, bytes and time sort alike, and a round trip changes nothing", () => {
    const parts = fc.record({
      timestamp: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      machine: fc.uint8Array({ minLength: 5, maxLength: 5 }),
      counter: fc.integer({ min: 0, max: 2 ** 24 - 1 }),
      shardKey: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    });
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const [x, y] = [a, b].map(hotguid.fromParts);
        assert.deepEqual(hotguid.parts(x), { ...a });
        assert.equal(hotguid.fromSql(hotguid.toSql(x)), x);
        assert.equal(hotguid.fromBytes(hotguid.toBytes(x)), x);
        assert.equal(hotguid.fromDotnetBytes(hotguid.toDotnetBytes(x)), x);
        assert.equal(x < y, Buffer.compare(hotguid.toBytes(x), hotguid.toBytes(y)) < 0);
        if (a.timestamp < b.timestamp) assert(x < y);
      }),
    );
  });

  test("texts that are refused", () => {
    const reads = ["parse", "parts", "shardKey", "timestamp", "toSql", "fromSql", "toBytes", "toDotnetBytes"];
    for (const name of reads) {
      for (const value of notATextOf(ID)) refused("invalid_type", () => hotguid[name](value));
      for (const text of [
        "",
        "1",
        ID.slice(1),
        `${ID}0`,
        ID.replaceAll("-", ""),
        `{${ID}}`,
        `urn:uuid:${ID}`,
        "0".repeat(1 << 20),
      ]) {
        const { message } = refused("invalid_length", () => hotguid[name](text));
        assert.equal(message, `expected length 36, found ${text.length}`);
      }
      for (const bad of ["g", "z", "G", "-", " ", "\0", "\ufeff", "\uff11", "\u0661", "а", "\ud800"]) {
        refused("invalid_character", () => hotguid[name](bad + ID.slice(1)), { position: 0 });
      }
      for (const position of [8, 13, 18, 23]) {
        refused("invalid_character", () => hotguid[name](`${ID.slice(0, position)}0${ID.slice(position + 1)}`), {
          position,
        });
      }
    }
    for (const value of [...notATextOf(ID), "", `${ID}0`, ID.replace("-", "0")])
      assert.equal(hotguid.isValid(value), false);
  });

  test("bytes that are refused", () => {
    for (const read of [hotguid.fromBytes, hotguid.fromDotnetBytes]) {
      for (const value of notBytesOf(16)) refused("invalid_type", () => read(value));
      for (const length of [0, 15, 17, 32]) refused("invalid_length", () => read(new Uint8Array(length)));
      refused("invalid_length", () => read(detached(16)));
      assert.equal(read(new Lying(16)), read(new Uint8Array(16)));
    }
    for (const value of notBytesOf(16)) refused("invalid_type", () => new HotGuidArray(value));
    refused("invalid_length", () => new HotGuidArray(new Uint8Array(17)));
  });

  test("fields that are refused", () => {
    for (const field of Object.keys(PARTS)) {
      const { [field]: _, ...others } = PARTS;
      refused("missing_field", () => hotguid.fromParts(others), { field });
    }
    for (const machine of notBytesOf(5).filter((value) => value !== undefined)) {
      refused("invalid_type", () => hotguid.fromParts({ ...PARTS, machine }), { field: "machine" });
    }
    for (const length of [0, 4, 6])
      refused("invalid_length", () => hotguid.fromParts({ ...PARTS, machine: new Uint8Array(length) }), {
        field: "machine",
      });
    for (const value of [undefined, null, 0, ID]) refused("invalid_type", () => hotguid.fromParts(value));
    assert.equal(hotguid.fromParts(PARTS), ID);
  });

  test("UUIDs of version 8 are those of the vectors, both ways", () => {
    const { hotguid: cases } = vectors("uuid8");
    assert(cases.length > 20);
    for (const { timestamp, machine, counter, shard_key: shardKey, uuid8 } of cases) {
      const parts = { timestamp, machine: Number(machine), counter, shardKey };
      assert.equal(hotguid.fromUuid8Parts(parts), uuid8);
      for (const text of [uuid8, uuid8.toUpperCase()]) assert.deepEqual(hotguid.uuid8Parts(text), parts);
    }
  });

  test("a UUID of another version or variant is refused, bit by bit", () => {
    const uuid8 = hotguid.fromUuid8Parts({ timestamp: 1_763_650_000, machine: 0x2_5555_5555, counter: 1, shardKey: 2 });
    const bits = BigInt(`0x${uuid8.replaceAll("-", "")}`);
    for (let bit = 0n; bit < 128n; bit++) {
      const hex = (bits ^ (1n << bit)).toString(16).padStart(32, "0");
      const near = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
      if ((bit >= 62n && bit < 64n) || (bit >= 76n && bit < 80n))
        refused("not_canonical", () => hotguid.uuid8Parts(near), { field: "id" });
      else assert.equal(hotguid.fromUuid8Parts(hotguid.uuid8Parts(near)), near);
    }
    for (const value of notATextOf(ID)) refused("invalid_type", () => hotguid.uuid8Parts(value));
  });

  test("fields of a UUID of version 8 that are refused", () => {
    const parts = { timestamp: 1, machine: 1, counter: 1, shardKey: 1 };
    for (const [field, most] of [
      ["machine", 2 ** 34],
      ["counter", 2 ** 24],
      ["shardKey", 2 ** 32],
    ]) {
      for (const value of [-1, most])
        refused("out_of_range", () => hotguid.fromUuid8Parts({ ...parts, [field]: value }), { field });
      assert.equal(hotguid.uuid8Parts(hotguid.fromUuid8Parts({ ...parts, [field]: most - 1 }))[field], most - 1);
      for (const value of ["1", 1n, 1.5, null, bytes("0000000001")])
        refused("invalid_type", () => hotguid.fromUuid8Parts({ ...parts, [field]: value }), { field });
    }
    refused("time_out_of_range", () => hotguid.fromUuid8Parts({ ...parts, timestamp: 2 ** 32 }), {
      field: "timestamp",
    });
    refused("missing_field", () => hotguid.fromUuid8Parts({ ...parts, machine: undefined }), { field: "machine" });
  });

  test("a generator makes UUIDs of version 8 where it is asked to, and no others that read as one", async () => {
    const ids = new Generator({ uuid8: true, clock: () => NOW });
    const made = [
      ids.generate(0x01020304),
      ids.tryGenerate(0x01020304),
      await ids.generateAsync(0x01020304),
      ...ids.generateMany(100, 0x01020304),
    ];
    const parts = made.map((id) => hotguid.uuid8Parts(id));
    assert.equal(new Set(made).size, 103);
    parts.forEach(({ timestamp, machine, counter, shardKey }, k) => {
      assert.deepEqual(
        [timestamp, machine, counter, shardKey],
        [NOW / 1000, parts[0].machine, (parts[0].counter + k) % PER_SECOND, 0x01020304],
      );
      assert.match(made[k], /^.{8}-.{4}-8.{3}-[89ab].{3}-.{4}01020304$/);
    });
    assert.deepEqual(made, [...made].sort());
    for (let k = 0; k < 200; k++)
      refused("not_canonical", () => hotguid.uuid8Parts(new Generator({ uuid8: false }).generate()));
    for (const uuid8 of [null, 0, 1, "yes", {}])
      refused("invalid_type", () => new Generator({ uuid8 }), { field: "uuid8" });
  });

  test("ranges are those of the vectors, for SQL Server too", () => {
    const cases = vectors("ranges").cases.filter(({ family }) => family === "hotguid");
    assert(cases.length > 3);
    for (const { from_ms, to_ms, lowest, highest, error } of cases) {
      const span = [Number(from_ms), Number(to_ms)];
      if (error) {
        refused(error, () => hotguid.timeRange(...span));
        continue;
      }
      assert.deepEqual(hotguid.timeRange(...span), { lowest: lowest.text, highest: highest.text });
      assert.deepEqual(hotguid.timeRange(...span.map((ms) => new Date(ms)), { sql: true }), {
        lowest: lowest.sql_text,
        highest: highest.sql_text,
      });
    }
    for (const value of [undefined, null, "1", 1n, NaN, 1.5, {}, new Date(NaN)])
      refused("invalid_type", () => hotguid.timeRange(value, NOW));
    for (const sql of [null, 0, 1, "yes", {}])
      refused("invalid_type", () => hotguid.timeRange(0, NOW, { sql }), { field: "sql" });
    refused("unknown_field", () => hotguid.timeRange(0, NOW, { SQL: true }));
    refused("invalid_type", () => hotguid.timeRange(0, NOW, true));
  });

  test("an ID has what its generator has", () => {
    const ids = new Generator({ clock: () => NOW + 999 });
    assert.equal(ids.stats().machine, undefined);
    const [first, second] = [ids.generate(), ids.generate(4_294_967_295)].map(hotguid.parts);
    assert.deepEqual([first.timestamp, first.shardKey, second.shardKey], [NOW / 1000, 0, 4_294_967_295]);
    assert.deepEqual(first.machine, second.machine);
    assert.equal(second.counter, (first.counter + 1) % PER_SECOND);
    assert.deepEqual(ids.stats(), { machine: first.machine, lastSecond: NOW / 1000, len: 2, closed: false });
    const other = hotguid.parts(new Generator().generate());
    assert.notDeepEqual(other.machine, first.machine);
  });

  test("the shared generator makes distinct IDs", () => {
    const ids = Array.from({ length: 50_000 }, () => hotguid.generate(7));
    assert.equal(new Set(ids).size, ids.length);
    assert(ids.every((id) => hotguid.shardKey(id) === 7));
  });

  test("a batch is what single calls would be", () => {
    const ids = new Generator({ clock: () => NOW });
    let next = hotguid.parts(ids.generate()).counter;
    for (const count of [0, 1, 447, 448, 449, 1024, 1025, 3000]) {
      const array = ids.generateMany(count, 9);
      assert.equal(array.length, count);
      assert.equal(array.bytes.length, 16 * count);
      for (const text of array) {
        next = (next + 1) % PER_SECOND;
        assert.deepEqual([hotguid.parts(text).counter, hotguid.parts(text).shardKey], [next, 9]);
      }
      assert.deepEqual(array.texts(), [...array]);
      assert.equal(array.at(-1), array.texts().at(-1));
    }
  });

  test("no counter is used twice in a second, and the next is usable", () => {
    let now = NOW;
    const ids = new Generator({ clock: () => now, onExhausted: "error" });
    const { bytes } = ids.generateMany(PER_SECOND);
    const seen = new Uint8Array(PER_SECOND);
    for (let at = 9; at < bytes.length; at += 16) seen[(bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2]] += 1;
    assert(seen.every((count) => count === 1));
    refused("sequence_exhausted", () => ids.generate(), { retryAt: NOW + 1000 });
    now += 1000;
    assert.equal(hotguid.timestamp(ids.generate()), NOW / 1000 + 1);
    now -= 5000;
    assert.equal(hotguid.timestamp(ids.generate()), NOW / 1000 + 1, "it stays in the highest second");
  });

  test("a window holds, and moves later", () => {
    let now = NOW - 1;
    const ids = new Generator({ clock: () => now, window: [new Date(NOW), NOW + 1000] });
    refused("lease_not_started", () => ids.generate(), { retryAt: NOW });
    now = NOW;
    ids.generate();
    now = NOW + 1000;
    refused("lease_expired", () => ids.generate());
    ids.extendWindow(new Date(NOW + 2000));
    ids.generate();
    refused("out_of_range", () => ids.extendWindow(NOW - 1000));
    refused("time_out_of_range", () => ids.extendWindow(2 ** 53));
    refused("out_of_range", () => new Generator({ window: [NOW, NOW] }));
    refused("time_out_of_range", () => new Generator({ window: [-1000, NOW] }));
    for (const window of [null, 0, [], [NOW]])
      refused("invalid_type", () => new Generator({ window }), { field: "window" });
  });

  test("clocks that fail, and times that the format has not", () => {
    const ids = new Generator({
      clock: scripted(
        NaN,
        () => {
          throw new Error("no");
        },
        "1",
        NOW,
      ),
    });
    for (const _ of [1, 2, 3]) refused("clock_failed", () => ids.generate());
    ids.generate();
    for (const reading of [-1, 2 ** 32 * 1000, Date.UTC(9999, 0, 1), 1e300]) {
      refused("time_out_of_range", () => new Generator({ clock: () => reading }).generate());
    }
    assert.equal(hotguid.timestamp(new Generator({ clock: () => (2 ** 32 - 1) * 1000 }).generate()), 2 ** 32 - 1);
  });

  test("a closed generator is closed", () => {
    const ids = new Generator();
    ids.generate();
    assert.equal(ids.close(), undefined);
    for (const call of [() => ids.generate(), () => ids.generateMany(1), () => ids.close()])
      refused("generator_closed", call);
    assert.equal(ids.stats().closed, true);
  });

  test("options", () => {
    for (const options of [null, 0, ""]) refused("invalid_type", () => new Generator(options));
    refused("unknown_field", () => new Generator({ shardKey: 1 }), { field: "shardKey" });
    refused("out_of_range", () => new Generator({ onExhausted: "raise" }), { field: "onExhausted" });
    assert.throws(() => Generator(), TypeError);
  });

  test("describes itself", () => {
    const { fields, ...figures } = hotguid.describe();
    assert.deepEqual(figures, {
      bits: 128,
      perSecond: 2n ** 24n,
      perSecondInAll: 2n ** 64n,
      firstMs: 0n,
      lastMs: 4_294_967_295_000n,
      sortsByTime: true,
      below2_53: false,
      below2_63: false,
    });
    assert.deepEqual(
      fields.map(({ name, offset, bits }) => [name, offset, bits]),
      [
        ["timestamp", 0, 32],
        ["machine", 32, 40],
        ["counter", 72, 24],
        ["shard_key", 96, 32],
      ],
    );
  });
});
