// Generates IDs while the system clock is stepped. See README.md. The second argument selects the backend.
const [seconds, machine] = process.argv.slice(2);
const { hotguid, layout, randflake, sno, uuid7 } = await import(`polyflake/${machine}`);

const grant = new randflake.Grant(7, 1_730_000_000, 2_803_741_824);
const generators = {
  sno: new sno.Generator(),
  hotguid: new hotguid.Generator(),
  layout: new layout.Generator(layout.Layout.preset("discord", { worker: 1, process: 2 })),
  randflake: new randflake.Generator(grant, new Uint8Array(16), { onExhausted: "wait" }),
  uuid7: new uuid7.Generator(),
};

const seen = new Set();
const rejectedCounts = {};
let [duplicateCount, stepsBack, lastTime] = [0, 0, Date.now()];

function record(family, id) {
  const key = `${family} ${id}`;
  duplicateCount += seen.has(key);
  seen.add(key);
}

/** Generates one ID, and then a batch of IDs. */
function generate(family, ids) {
  try {
    record(family, ids.generate());
    for (const id of ids.generateMany(10)) record(family, id);
  } catch (error) {
    if (error.name !== "PolyflakeError") throw error;
    rejectedCounts[error.code] = (rejectedCounts[error.code] ?? 0) + 1;
  }
}

const end = process.hrtime.bigint() + BigInt(seconds) * 1_000_000_000n;
while (process.hrtime.bigint() < end) {
  for (const [family, ids] of Object.entries(generators)) generate(family, ids);
  const now = Date.now();
  stepsBack += now < lastTime;
  lastTime = now;
}
console.log(
  JSON.stringify({ ids: seen.size + duplicateCount, twice: duplicateCount, stepsBack, rejected: rejectedCounts }),
);
