/**
 * For each of several explicit worker IDs, creates many generators with this worker ID, one after another. Each
 * generator starts after its predecessor has generated its last ID.
 *
 * `node restarts.mjs [GENERATORS] [WORKERS] [native | wasm]` prints one JSON line per format, and fails if an ID
 * repeats. Asynchronous calls test the worker IDs concurrently, so that the waits for the next tick overlap. The last
 * line reports the result for synchronous calls.
 */
const [generators = 10_000, workers = 200] = process.argv.slice(2, 4).map(Number);
const { layout, randflake, sno } = await import(`polyflake/${process.argv[4] ?? "native"}`);

const secret = new TextEncoder().encode("sixteen byte key");

const generatorFactories = {
  sno: (worker) => new sno.Generator({ partition: worker }),
  "layout, ticks of 1 ms": (worker) =>
    new layout.Generator(layout.Layout.preset("discord", { worker: worker % 32, process: Math.floor(worker / 32) })),
  Randflake: (worker) => new randflake.Generator(new randflake.Grant(worker, 1_730_000_000, 2_803_741_824), secret),
};

/**
 * Creates `count` generators with the same worker ID by calling `begin`, one after another, and adds their IDs to
 * `generatedIds`.
 */
async function consecutiveIds(begin, worker, count, generatedIds) {
  for (let k = 0; k < count; k++) {
    const ids = begin(worker);
    generatedIds.push(String(await ids.generateAsync()), String(await ids.generateAsync()));
    ids.close();
  }
}

function report(format, count, generatedIds) {
  const twice = generatedIds.length - new Set(generatedIds).size;
  console.log(JSON.stringify({ format, generators: count, ids: generatedIds.length, twice }));
  if (twice > 0 || generatedIds.length !== 2 * count) process.exitCode = 1;
}

for (const [format, begin] of Object.entries(generatorFactories)) {
  const each = Math.ceil((format === "Randflake" ? generators / 100 : generators) / workers);
  const generatedIds = [];
  await Promise.all(Array.from({ length: workers }, (_, worker) => consecutiveIds(begin, worker, each, generatedIds)));
  report(format, each * workers, generatedIds);
}

const generatedIds = [];
for (let k = 0; k < generators / 100; k++) {
  const ids = generatorFactories.sno(1000);
  generatedIds.push(ids.generate(), ids.generate());
  ids.close();
}
report("sno, synchronous", generatedIds.length / 2, generatedIds);
