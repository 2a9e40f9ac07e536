// Describes the generators of all formats, for tests that apply to every format.

export const SECRET = Uint8Array.from({ length: 16 }, (_, k) => k);

/** The first second that Randflake supports, and the second after the last supported one. */
export const [START, END] = [1_730_000_000, 2_803_741_824];

const describe = (id, bits, [time, shard, sequence]) => ({
  id,
  bits,
  fields: [
    { kind: "timestamp", bits: time, tick: "1ms", epoch_ms: 0 },
    { kind: "bindable", bits: shard, name: "shard" },
    { kind: "sequence", bits: sequence },
  ],
});

/** Uses up all but the last `few` IDs of a generator's tick. */
export function exhaustTick(ids, { leftAfter, read }, few = 0) {
  ids.generateMany(leftAfter(read(ids, ids.generate()).ordinal) - few);
}

/**
 * Returns an object for each format. `make` creates a generator with a given worker ID, and `perTick` is the maximum
 * number of IDs that this generator creates per tick. `leftAfter` returns how many IDs of a tick are left after the
 * tick's first ID. `tickMs` is the duration of a tick. `large` creates a generator with more IDs per tick. `Many` is
 * the array class. `about` lists the arguments with which `generate` is called, and `read` returns the fields of an ID.
 */
export function familiesOf({ hotguid, layout, randflake, sno, uuid7 }) {
  const layouts = (id, bits, few, many) => {
    const [small, wide] = [few, many].map((widths) => new layout.Layout(describe(id, bits, widths)));
    const of = (its) => (shard, more) => new layout.Generator(its, { bindables: { shard }, ...more });
    return {
      make: of(small),
      perTick: 4,
      leftAfter: () => 3,
      tickMs: 1,
      large: (more) => of(wide)(1, more),
      Many: layout.LayoutArray,
      about: [{ shard: 7 }],
      read(ids, id) {
        const { unixMs, sequence, bindables } = ids.layout.parse(id);
        return { unixMs: Number(unixMs), ordinal: sequence, about: bindables.shard };
      },
    };
  };
  const snos = (partition, more) => new sno.Generator({ partition, sequenceMax: 3, ...more });
  const randflakes = (node, more) => new randflake.Generator(new randflake.Grant(node, START, END), SECRET, more);
  const guids = (_, more) => new hotguid.Generator(more);
  return {
    sno: {
      make: snos,
      perTick: 4,
      leftAfter: () => 3,
      tickMs: 4,
      large: (more) => snos(1, { sequenceMax: 65_535, ...more }),
      Many: sno.SnoArray,
      about: [7],
      read(_, id) {
        const { unixMs, sequence: ordinal, metabyte: about, partition } = sno.parse(id);
        return { unixMs, ordinal, about, partition };
      },
    },
    randflake: {
      make: randflakes,
      perTick: 131_072,
      leftAfter: () => 131_071,
      tickMs: 1000,
      large: (more) => randflakes(1, more),
      Many: randflake.RandflakeArray,
      about: [],
      read(ids, id) {
        const { timestamp, sequence: ordinal, node } = ids.inspect(id);
        return { unixMs: timestamp * 1000, ordinal, node };
      },
    },
    hotguid: {
      make: guids,
      perTick: 1 << 24,
      // The counter starts at a random value.
      leftAfter: (counter) => (1 << 24) - 1 - counter,
      tickMs: 1000,
      large: (more) => guids(1, more),
      Many: hotguid.HotGuidArray,
      about: [7],
      read(_, id) {
        const { timestamp, counter: ordinal, shardKey: about, machine } = hotguid.parts(id);
        return { unixMs: timestamp * 1000, ordinal, about, machine };
      },
    },
    uuid7: {
      make: (_, more) => new uuid7.Generator(more),
      perTick: 1 << 18,
      // The sequence starts at a random value.
      leftAfter: (sequence) => (1 << 18) - 1 - sequence,
      tickMs: 1,
      large: (more) => new uuid7.Generator(more),
      Many: uuid7.Uuid7Array,
      about: [],
      read(_, id) {
        const { unixMs, sequence: ordinal } = uuid7.parts(id);
        return { unixMs, ordinal };
      },
    },
    layout: layouts("integer", 64, [54, 8, 2], [42, 8, 14]),
    "byte layout": layouts("bytes", 80, [54, 24, 2], [42, 24, 14]),
  };
}
