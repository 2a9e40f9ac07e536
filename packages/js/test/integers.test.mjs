// Every integer parameter of the families besides sno: accepted values, and the errors for others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NOT_A_BIGINT, NOT_A_NUMBER, NOT_WHOLE } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";
import { refused } from "./refusals.mjs";

const SECOND = 1_763_650_000;
const LAST_SECOND = 2_803_741_823;
const HUGE = [2 ** 32, 2 ** 53, 2 ** 53 + 2, 2 ** 63, 1e300, -(2 ** 63), -1e300];

onEachMachine(({ hotguid, randflake }) => {
  const grant = new randflake.Grant([0, 131_071], 1_730_000_000, LAST_SECOND + 1);
  const secret = new Uint8Array(16);
  const clock = () => SECOND * 1000;
  const flakes = new randflake.Generator(grant, secret, { clock });
  const codec = new randflake.Codec(secret);
  const guids = new hotguid.Generator({ clock });
  const flake = (changes) => codec.encrypt({ timestamp: SECOND, node: 1, sequence: 1, ...changes });
  const guid = (changes) =>
    hotguid.fromParts({ timestamp: SECOND, machine: new Uint8Array(5), counter: 0, shardKey: 0, ...changes });

  /** Parameters: the name in errors, a call with a value, the limits. */
  const numbers = [
    ["nodes", (node) => new randflake.Grant(node, SECOND, SECOND + 1), 0, 131_071],
    ["nodes", (node) => new randflake.Grant([node, 131_071], SECOND, SECOND + 1), 0, 131_071],
    ["nodes", (node) => new randflake.Grant([0, node], SECOND, SECOND + 1), 0, 131_071],
    ["start", (start) => new randflake.Grant(1, start, LAST_SECOND + 1), 1_730_000_000, LAST_SECOND],
    ["end", (end) => new randflake.Grant(1, SECOND, end), SECOND + 1, LAST_SECOND + 1],
    [
      "resumeAfter",
      (resumeAfter) => new randflake.Generator(grant, secret, { resumeAfter }),
      1_730_000_000,
      LAST_SECOND,
    ],
    ["maxWait", (maxWait) => new randflake.Generator(grant, secret, { maxWait }), 0, 2 ** 53 - 1],
    ["node", (node) => flake({ node }), 0, 131_071],
    ["sequence", (sequence) => flake({ sequence }), 0, 131_071],
    ["count", (count) => flakes.generateMany(count), 0, undefined],
    ["shardKey", (shardKey) => guids.generate(shardKey), 0, 2 ** 32 - 1],
    ["shardKey", (shardKey) => guids.generateMany(0, shardKey), 0, 2 ** 32 - 1],
    ["shardKey", (shardKey) => hotguid.generate(shardKey), 0, 2 ** 32 - 1],
    ["shardKey", (shardKey) => guid({ shardKey }), 0, 2 ** 32 - 1],
    ["counter", (counter) => guid({ counter }), 0, 2 ** 24 - 1],
    ["count", (count) => guids.generateMany(count), 0, undefined],
    ["maxWait", (maxWait) => new hotguid.Generator({ maxWait }), 0, 2 ** 53 - 1],
  ];

  numbers.forEach(([field, call, least, most = 2 ** 24], k) => {
    test(`number ${k}: ${field}`, () => {
      for (const value of [...NOT_A_NUMBER, ...NOT_WHOLE]) {
        assert(refused("invalid_type", () => call(value), { field }).message.includes(field));
      }
      for (const value of [least - 1, most + 1, ...HUGE].filter((value) => value < least || value > most)) {
        const error = refused("out_of_range", () => call(value));
        assert.equal(error.field, field);
        assert(error.message.includes(field), error.message);
      }
      call(least === 0 ? -0 : least);
      if (field !== "count") call(most);
    });
  });

  const times = [(timestamp) => flake({ timestamp }), (timestamp) => guid({ timestamp })];

  times.forEach((call, k) => {
    test(`timestamp ${k}`, () => {
      for (const value of [...NOT_A_NUMBER, ...NOT_WHOLE])
        refused("invalid_type", () => call(value), { field: "timestamp" });
      for (const value of [-1, ...HUGE]) refused("time_out_of_range", () => call(value));
    });
  });

  const bigints = [
    ["id", (id) => randflake.encodeText(id), -(2n ** 63n), 2n ** 63n - 1n],
    ["id", (id) => randflake.toUnsigned(id), -(2n ** 63n), 2n ** 63n - 1n],
    ["id", (id) => codec.inspect(id), -(2n ** 63n), 2n ** 63n - 1n],
    ["id", (id) => flakes.inspect(id), -(2n ** 63n), 2n ** 63n - 1n],
    ["value", (value) => randflake.fromUnsigned(value), 0n, 2n ** 64n - 1n],
  ];

  bigints.forEach(([field, call, least, most], k) => {
    test(`bigint ${k}: ${field}`, () => {
      for (const value of NOT_A_BIGINT) refused("invalid_type", () => call(value), { field });
      for (const value of [
        least - 1n,
        most + 1n,
        2n ** 64n,
        -(2n ** 63n) - 1n,
        2n ** 128n,
        -(2n ** 128n),
        2n ** 100_000n,
      ]) {
        const { message } = refused("out_of_range", () => call(value), { field });
        assert(message.length < 200);
      }
      for (const value of [least, most, 0n, 1n]) call(value);
    });
  });

  test("signedness is converted where asked, and nowhere else", () => {
    for (const [signed, unsigned] of [
      [0n, 0n],
      [-1n, 2n ** 64n - 1n],
      [-(2n ** 63n), 2n ** 63n],
      [2n ** 63n - 1n, 2n ** 63n - 1n],
    ]) {
      assert.equal(randflake.toUnsigned(signed), unsigned);
      assert.equal(randflake.fromUnsigned(unsigned), signed);
    }
  });
});
