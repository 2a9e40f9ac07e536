// Tests that errors name parameters and fields as the caller wrote them.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as decode from "polyflake/decode";
import { assertError, NOW } from "./assertions.mjs";
import { nonTextsFor } from "./catalogue.mjs";
import { onEachMachine } from "./machines.mjs";

const clock = () => NOW;

onEachMachine(({ hotguid, layout, randflake, sno, uuid7 }) => {
  const discord = layout.Layout.preset("discord", { worker: 1, process: 2 });
  const makersWithWindow = {
    sno: (window) => new sno.Generator({ window, testClock: clock }),
    hotguid: (window) => new hotguid.Generator({ window, testClock: clock }),
    uuid7: (window) => new uuid7.Generator({ window, testClock: clock }),
    layout: (window) => new layout.Generator(discord, { window, testClock: clock }),
  };

  for (const [family, make] of Object.entries(makersWithWindow)) {
    test(`an invalid window of ${family} is named in the error`, () => {
      for (const window of [
        [5, 1],
        [NOW, NOW - 1],
        [NOW, 2 ** 60],
        [-(2 ** 60), NOW],
      ]) {
        assert.throws(
          () => make(window),
          ({ code, field }) => /out_of_range$/.test(code) && field === "window",
          `${window}`,
        );
      }
      assertError("invalid_type", () => make(["x", 1]), { field: "window" });
      assertError("out_of_range", () => make([NOW, NOW + 5000]).extendWindow(NOW - 5000), { field: "end" });
    });
  }

  test("errors distinguish a window from bindables of the same name", () => {
    const fields = (first) => [first, { kind: "sequence", bits: 12 }, { kind: "bindable", name: "end", bits: 4 }];
    const timeless = new layout.Layout({ id: "integer", bits: 64, fields: fields({ kind: "unused", bits: 48 }) });
    const options = { bindables: { end: 1 }, window: [NOW, NOW + 1000] };
    assertError("unknown_field", () => new layout.Generator(timeless, { ...options, sequenceOnly: true }), {
      field: "window",
    });
    const timed = new layout.Layout({
      id: "integer",
      bits: 64,
      fields: fields({ kind: "timestamp", bits: 48, tick: "1ms", epoch_ms: 0 }),
    });
    assertError("out_of_range", () => new layout.Generator(timed, { ...options, bindables: { end: 99 } }), {
      field: "end",
    });
    assertError("out_of_range", () => new layout.Generator(timed, { ...options, window: [5, 1] }), { field: "window" });
  });

  test("errors show Dates as ISO strings and milliseconds as numbers", () => {
    const [old, far, farther] = [new Date(-1), new Date("2200-01-01"), new Date("2200-01-02")];
    const ids = new sno.Generator({ partition: 7, testClock: clock, window: [NOW, NOW + 1000] });
    const [snos, hotguids] = [
      "2010-01-01T00:00:00.000Z to 2079-09-07T15:47:35.551Z",
      "1970-01-01T00:00:00.000Z to 2106-02-07T06:28:15.999Z",
    ];
    const discords = "2015-01-01T00:00:00.000Z to 2154-05-15T07:35:11.103Z";
    for (const [range, call] of [
      [`at from ${snos}`, (time) => ids.generateAt(time)],
      [`end from ${snos}`, (time) => ids.extendWindow(time)],
      [`start from ${snos}`, (time) => sno.timeRange(time, NOW)],
      [`window from ${snos}`, (time) => new sno.Generator({ window: [time, farther] })],
      [`window from ${hotguids}`, (time) => new hotguid.Generator({ window: [time, farther] })],
      [`end from ${hotguids}`, (time) => hotguid.timeRange(NOW, time)],
      [`window from ${discords}`, (time) => new layout.Generator(discord, { window: [time, farther] })],
      [`start from ${discords}`, (time) => discord.timeRange(time, farther)],
      [`timestamp from ${discords}`, (time) => discord.pack({ timestamp: time, sequence: 1 })],
      [`timestamp from ${discords}`, (time) => discord.packColumns({ timestamp: time, sequence: new Float64Array(1) })],
    ]) {
      const { message } = assertError("time_out_of_range", () => call(range.startsWith("end") ? far : old));
      assert.equal(
        message.replace("item 0: ", ""),
        `expected ${range}, found ${(range.startsWith("end") ? far : old).toISOString()}`,
      );
      assert.match(
        assertError("time_out_of_range", () => call(Number(range.startsWith("end") ? far : old))).message,
        / to \d+ ms, found -?\d+$/,
      );
    }
    const { message } = assertError("out_of_range", () => ids.extendWindow(new Date(NOW - 1)));
    assert.match(message, /^expected end from \d{4}-.*Z to .*Z, found .*Z$/);
    assertError("time_out_of_range", () => ids.extendWindow(new Date(8.64e15)));
  });

  test("errors name the parameter of an invalid string", () => {
    const id = "a7rdmuv326nct5if";
    const withFields = [sno.withMetabyte, sno.withPartition, sno.withSequence].map(
      (change) => (text) => change(text, 1),
    );
    const readers = {
      text: [
        sno.parse,
        sno.metabyte,
        sno.toBytes,
        ...withFields,
        hotguid.parse,
        uuid7.parse,
        randflake.decodeText,
        decode.metabyte,
      ],
      id: [hotguid.parts, hotguid.toSql, uuid7.parts, uuid7.workerId, sno.toJsonValue],
      guid: [hotguid.fromSql],
      uuid: [sno.fromUuid, sno.fromUuid8],
      value: [sno.fromJsonValue],
    };
    for (const [field, calls] of Object.entries(readers)) {
      for (const read of calls) {
        for (const text of ["", `${id}!`, "!".repeat(16), "!".repeat(36), `!${"0".repeat(12)}`])
          assert.throws(() => read(text), { name: "PolyflakeError", field }, `${field}: ${text}`);
        for (const value of nonTextsFor(id)) assertError("invalid_type", () => read(value), { field });
      }
    }
    for (const isValid of [sno.isValid, decode.isValid, hotguid.isValid, uuid7.isValid])
      for (const value of nonTextsFor(id)) assert.equal(isValid(value), false);
  });

  test("errors describe the value found instead of pairs and options", () => {
    const window = (window) => new sno.Generator({ window });
    for (const [found, call] of [
      ["two times for `window`, found 1", () => window([5])],
      ["two times for `window`, found Object", () => window({})],
      ["two integers for `nodes`, found 3", () => new randflake.Grant([1, 2, 3], 1_730_000_000, 2_803_741_824)],
      ["a plain object for `options`, found Map", () => new sno.Generator(new Map())],
      ["a plain object for `options`, found Array", () => new sno.Generator([])],
    ])
      assert.equal(assertError("invalid_type", call).message, `expected ${found}`);
  });
});
