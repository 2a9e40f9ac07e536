// IDs with known times, in chronological order, and the bounds of a time span.
import { hotguid, randflake, sno } from "polyflake";
import { Keyring } from "polyflake/public";

const NOW = 1_763_650_000_000;
const HOUR = 3_600_000;
const EPOCH = 1_262_304_000_000;
const hours = Array.from({ length: 20 }, (_, hour) => hour);

/** One ID per hour, with decreasing partitions. */
export const SNOS = hours.map((hour) =>
  sno.fromParts({
    tick: (NOW + hour * HOUR - EPOCH) / 4,
    tickTock: false,
    metabyte: 2,
    partition: 60_000 - hour * 3000,
    sequence: hour,
  }),
);

export const GUIDS = hours.map((hour) =>
  hotguid.fromParts({
    timestamp: NOW / 1000 + hour * 3600,
    machine: new Uint8Array(5).fill(255 - hour),
    counter: hour,
    shardKey: 2 ** 31 - hour,
  }),
);

/** Sorted 64-bit integers, most of which JavaScript numbers cannot represent. */
export const INTEGERS = [-(2n ** 63n), -(2n ** 53n) - 1n, -1n, 0n, 4_594_531_474_933_654_033n, 2n ** 63n - 1n];

/** The strings of Randflakes, sorted by their integers. */
export const RANDFLAKES = INTEGERS.map(randflake.encodeText);

/** The type of the public IDs in `PUBLIC_IDS`, which are sorted by the numbers that they encode. */
const ORDERS = new Keyring(new Uint8Array(32)).of("order");
export const PUBLIC_IDS = [0, 1, 42, 43, 2 ** 40, 2 ** 48 - 1].map((number) => ORDERS.encode(number));

/** Returns a `[form, column]` pair for each column function of a database. */
export const columnsOf = ({ publicInt64, ...columns }) =>
  Object.entries({ ...columns, publicInt64: publicInt64(ORDERS) });

const SPAN = [NOW + 5 * HOUR, NOW + 10 * HOUR];

/** Sorted IDs for each form and, for some forms, the bounds of the IDs at indexes 5 to 9. */
export const SAMPLES = {
  ...Object.fromEntries(
    ["snoText", "snoBytes", "snoUuid8", "snoUuid"].map((form) => [form, { ids: SNOS, span: sno.timeRange(...SPAN) }]),
  ),
  hotguidText: { ids: GUIDS, span: hotguid.timeRange(...SPAN) },
  hotguidBytes: { ids: GUIDS, span: hotguid.timeRange(...SPAN) },
  hotguidSql: { ids: GUIDS, span: hotguid.timeRange(...SPAN) },
  int64: { ids: INTEGERS },
  randflakeInt64: { ids: RANDFLAKES },
  publicInt64: { ids: PUBLIC_IDS },
};
