// Every family under every kind of clock: an ID or a typed error, nothing changed by an error, everything works afterwards.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { onEachMachine } from "./machines.mjs";
import { NOW, refused, scripted } from "./refusals.mjs";

const NO_TIMES = [
  NaN,
  Infinity,
  -Infinity,
  undefined,
  null,
  true,
  "0",
  0n,
  [],
  {},
  new Date(NOW),
  Object(NOW),
  Symbol("s"),
  () => NOW,
];

/** Times before and after the range of every family. */
const OUTSIDE = [-1, -0.5, -1e15, Date.UTC(9999, 0, 1), 2 ** 53, Number.MAX_VALUE, -Number.MAX_VALUE];

const CALLS = [(ids) => ids.generate(), (ids) => ids.generateMany(3)];

onEachMachine(({ hotguid, layout, randflake, sno }) => {
  const grant = new randflake.Grant(7, 1_730_000_000, 2_803_741_824);
  const discord = layout.Layout.preset("discord", { worker: 1, process: 2 });
  const families = {
    sno: (options) => new sno.Generator({ partition: 7, ...options }),
    hotguid: (options) => new hotguid.Generator(options),
    randflake: (options) => new randflake.Generator(grant, new Uint8Array(16), options),
    layout: (options) => new layout.Generator(discord, options),
  };

  for (const [family, make] of Object.entries(families)) {
    describe(family, () => {
      /** Readings that every call refuses, before and after good ones. */
      function refuses(codes, readings) {
        let reading = () => NOW;
        const ids = make({ clock: () => reading(), maxWait: 0 });
        const first = ids.generate();
        const before = ids.stats();
        for (reading of readings) {
          for (const call of CALLS)
            assert.throws(
              () => call(ids),
              ({ name, code }) => name === "PolyflakeError" && codes.includes(code),
            );
        }
        reading = () => NOW;
        assert.deepEqual(ids.stats(), before);
        assert.notEqual(ids.generate(), first);
      }

      test("readings that are no time", () => {
        refuses(
          ["clock_failed"],
          NO_TIMES.map((value) => () => value),
        );
        refuses(
          ["clock_failed"],
          [
            () => {
              throw new Error("no");
            },
            () => {
              throw undefined;
            },
          ],
        );
      });

      test("times outside of the family's", () => {
        refuses(
          ["time_out_of_range", "lease_not_started", "lease_expired"],
          OUTSIDE.map((value) => () => value),
        );
      });

      test("clocks that swing repeat nothing", () => {
        const swings = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 40 });
        fc.assert(
          fc.property(swings, (seconds) => {
            const ids = make({ clock: scripted(...seconds.map((second) => NOW + 1000 * second)), maxWait: 0 });
            const made = seconds.flatMap(() => {
              try {
                return [...ids.generateMany(2)];
              } catch (error) {
                assert.equal(error.code, "clock_behind");
                return [];
              }
            });
            assert.equal(new Set(made).size, made.length);
          }),
        );
      });

      test("a clock that outruns its call is given up", () => {
        const made = [];
        let inside = false;
        let now = NOW;
        // The bound on readings ends the call, not a bound on time, which would depend on how busy the machine is.
        const ids = make({
          maxWait: 1000,
          clock() {
            if (!inside) {
              inside = true;
              made.push(ids.generate());
              inside = false;
            }
            return (now += 1000);
          },
        });
        refused("clock_failed", () => ids.generate());
        assert(made.length > 100);
        inside = true;
        made.push(ids.generate());
        assert.equal(new Set(made).size, made.length);
      });

      test("a clock may take longer than a tick", () => {
        const ids = make({
          clock() {
            const begun = Date.now();
            while (Date.now() < begun + 5);
            return Date.now();
          },
        });
        const made = Array.from({ length: 20 }, () => ids.generate());
        assert.equal(new Set(made).size, 20);
      });
    });
  }
});
