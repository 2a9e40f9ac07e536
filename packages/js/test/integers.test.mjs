// Tests every integer parameter with accepted values, and checks the errors for other values.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertError, NOW } from "./assertions.mjs";
import { NON_BIGINTS, NON_INTEGERS, NON_NUMBERS } from "./catalogue.mjs";
import { END, familiesOf, SECRET, START } from "./families.mjs";
import { onEachMachine } from "./machines.mjs";

const NOW_SECONDS = NOW / 1000;
const ID = "a7rdmuv326nct5if";
const HUGE_NUMBERS = [2 ** 32, 2 ** 53, 2 ** 53 + 2, 2 ** 63, 1e300, -(2 ** 63), -1e300];

onEachMachine((polyflake) => {
  const { hotguid, randflake, sno } = polyflake;
  const families = familiesOf(polyflake);
  const clock = () => NOW;
  const grant = new randflake.Grant([0, 131_071], START, END);
  const flakes = new randflake.Generator(grant, SECRET, { testClock: clock });
  const codec = new randflake.Codec(SECRET);
  const snos = families.sno.large({ testClock: clock });
  const guids = families.hotguid.make(1, { testClock: clock });
  const flake = (changes) => codec.encrypt({ timestamp: NOW_SECONDS, node: 1, sequence: 1, ...changes });
  const guid = (changes) =>
    hotguid.fromParts({ timestamp: NOW_SECONDS, machine: new Uint8Array(5), counter: 0, shardKey: 0, ...changes });
  const uuid8 = (changes) =>
    hotguid.fromUuid8Parts({ timestamp: NOW_SECONDS, machine: 1, counter: 0, shardKey: 0, ...changes });
  const fields = { tick: 1, tickTock: false, metabyte: 1, partition: 1, sequence: 1 };
  const snapshot = new sno.Generator({ partition: 1, sequenceMax: 9 }).close();
  const restoreInBothWays = (changes) =>
    [sno.Generator.restore, sno.Generator.importOriginal].forEach((make) => make({ ...snapshot, ...changes }).close());
  const generatorsWithCounters = Object.values(families).map((family) => family.large({ testClock: clock }));
  const waitingCalls = Object.values(families).map(
    (family) => (maxWait) => family.make(1, { maxWait, testClock: clock }),
  );

  /**
   * Integer parameters. Each entry lists the parameter's name in errors, a function that passes a value for the
   * parameter, and the limits.
   */
  const numbers = [
    ["metabyte", (value) => sno.withMetabyte(ID, value), 0, 255],
    ["partition", (value) => sno.withPartition(ID, value), 0, 65_535],
    ["sequence", (value) => sno.withSequence(ID, value), 0, 65_535],
    ["tick", (tick) => sno.fromParts({ ...fields, tick }), 0, 2 ** 39 - 1],
    ["metabyte", (metabyte) => sno.fromParts({ ...fields, metabyte }), 0, 255],
    ["partition", (partition) => sno.fromParts({ ...fields, partition }), 0, 65_535],
    ["sequence", (sequence) => sno.fromParts({ ...fields, sequence }), 0, 65_535],
    ["metabyte", (metabyte) => new sno.Generator({ metabyte }), 0, 255],
    ["partition", (partition) => new sno.Generator({ partition }), 0, 65_535],
    ["sequenceMin", (sequenceMin) => new sno.Generator({ sequenceMin }), 0],
    ["sequenceMax", (sequenceMax) => new sno.Generator({ sequenceMax }), 3, 65_535],
    ["metabyte", (metabyte) => snos.generate(metabyte), 0, 255],
    ["metabyte", (metabyte) => snos.generateMany(0, metabyte), 0, 255],
    ["metabyte", (metabyte) => snos.generateAt(NOW, metabyte), 0, 255],
    ["wallHi", (wallHi) => restoreInBothWays({ wallHi }), 0, 2 ** 39 - 1],
    ["wallSafe", (wallSafe) => restoreInBothWays({ wallSafe }), 0, 2 ** 39 - 1],
    ["drifts", (drifts) => restoreInBothWays({ drifts }), 0, 2 ** 32 - 1],
    ["nodes", (node) => new randflake.Grant(node, NOW_SECONDS, NOW_SECONDS + 1), 0, 131_071],
    ["nodes", (node) => new randflake.Grant([node, 131_071], NOW_SECONDS, NOW_SECONDS + 1), 0, 131_071],
    ["nodes", (node) => new randflake.Grant([0, node], NOW_SECONDS, NOW_SECONDS + 1), 0, 131_071],
    ["start", (start) => new randflake.Grant(1, start, END), START, END - 1],
    ["end", (end) => new randflake.Grant(1, NOW_SECONDS, end), NOW_SECONDS + 1, END],
    ["resumeAfter", (resumeAfter) => new randflake.Generator(grant, SECRET, { resumeAfter }).close(), START, END - 1],
    ["node", (node) => flake({ node }), 0, 131_071],
    ["sequence", (sequence) => flake({ sequence }), 0, 131_071],
    ["shardKey", (shardKey) => guids.generate(shardKey), 0, 2 ** 32 - 1],
    ["shardKey", (shardKey) => guids.generateMany(0, shardKey), 0, 2 ** 32 - 1],
    ["shardKey", (shardKey) => hotguid.generate(shardKey), 0, 2 ** 32 - 1],
    ["shardKey", (shardKey) => guid({ shardKey }), 0, 2 ** 32 - 1],
    ["counter", (counter) => guid({ counter }), 0, 2 ** 24 - 1],
    ["machine", (machine) => uuid8({ machine }), 0, 2 ** 34 - 1],
    ["counter", (counter) => uuid8({ counter }), 0, 2 ** 24 - 1],
    ["shardKey", (shardKey) => uuid8({ shardKey }), 0, 2 ** 32 - 1],
    ...generatorsWithCounters.map((ids) => ["count", (count) => ids.generateMany(count), 0]),
    ...waitingCalls.map((make) => ["maxWait", make, 0, 2 ** 53 - 1]),
  ];

  /** Parameters whose limits depend on each other. */
  const WIDER_FIELDS = ["sequenceMin", "sequenceMax"];

  /** Parameters in Unix seconds. The error messages for these parameters include the unit. */
  const FIELDS_IN_SECONDS = ["start", "end", "resumeAfter"];

  numbers.forEach(([field, call, least, most], k) => {
    test(`number ${k}: an invalid ${field} is rejected`, () => {
      for (const value of [...NON_NUMBERS, ...NON_INTEGERS])
        assert(assertError("invalid_type", () => call(value), { field }).message.includes(field));
      const outside = [least - 1, (most ?? 2 ** 24) + 1, ...HUGE_NUMBERS].filter(
        (value) => value < least || value > most,
      );
      for (const value of most === undefined ? [-1, 2 ** 24 + 1, ...HUGE_NUMBERS] : outside) {
        const { message } = assertError("out_of_range", () => call(value), { field });
        const unit = FIELDS_IN_SECONDS.includes(field) ? " s" : "";
        if (!WIDER_FIELDS.includes(field))
          assert(message.startsWith(`expected ${field} from ${least} to ${most ?? 2 ** 24}${unit}, found `), message);
      }
      call(least === 0 ? -0 : least);
      if (most !== undefined) call(most);
    });
  });

  const times = [
    (timestamp) => flake({ timestamp }),
    (timestamp) => guid({ timestamp }),
    (timestamp) => uuid8({ timestamp }),
  ];

  times.forEach((call, k) => {
    test(`timestamp ${k}: an invalid timestamp is rejected`, () => {
      const field = "timestamp";
      for (const value of [...NON_NUMBERS, ...NON_INTEGERS]) assertError("invalid_type", () => call(value), { field });
      for (const value of [-1, ...HUGE_NUMBERS]) assertError("time_out_of_range", () => call(value));
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
    test(`bigint ${k}: an invalid ${field} is rejected`, () => {
      for (const value of NON_BIGINTS) assertError("invalid_type", () => call(value), { field });
      for (const value of [least - 1n, most + 1n, 2n ** 64n, -(2n ** 63n) - 1n, 2n ** 128n, 2n ** 100_000n])
        assert(assertError("out_of_range", () => call(value), { field }).message.length < 200);
      for (const value of [least, most, 0n, 1n]) call(value);
    });
  });
});
