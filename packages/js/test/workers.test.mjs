// Tests many threads and processes as user programs run them: worker threads, and a cluster whose processes share a
// port.
import assert from "node:assert/strict";
import cluster from "node:cluster";
import { once } from "node:events";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import * as native from "polyflake/native";
import * as wasm from "polyflake/wasm";

const scriptPath = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The number of IDs of each format that one thread or process generates. */
const ID_COUNT = 2000;

function assertAllDiffer(made, makers) {
  for (const family of ["sno", "hotguid", "uuid7"]) {
    const ids = made.flatMap((one) => one[family]);
    assert.equal(ids.length, makers * ID_COUNT);
    assert.equal(new Set(ids).size, ids.length, family);
  }
}

/** Returns the first message of each of `count` workers, which all run at the same time. */
async function runWorkers(count, machine, workerData = {}) {
  const all = Array.from(
    { length: count },
    () => new Worker(scriptPath("maker.mjs"), { workerData: { machine, count: ID_COUNT, ...workerData } }),
  );
  try {
    return await Promise.all(all.map(async (worker) => (await once(worker, "message"))[0]));
  } finally {
    await Promise.all(all.map((worker) => worker.terminate()));
  }
}

for (const machine of ["native", "wasm"]) {
  describe(machine, () => {
    test("default generators of eight workers never collide", async () => {
      assertAllDiffer(await runWorkers(8, machine), 8);
    });

    test("default generators of four cluster processes never collide", async () => {
      cluster.setupPrimary({ exec: scriptPath("maker.mjs"), args: [machine, String(ID_COUNT)] });
      const processes = Array.from({ length: 4 }, () => cluster.fork());
      try {
        assertAllDiffer(await Promise.all(processes.map(async (one) => (await once(one, "message"))[0])), 4);
      } finally {
        for (const one of processes) one.kill();
      }
    });
  });
}

test("generators cannot be sent to a worker and keep working", () => {
  for (const { hotguid, layout, randflake, sno, uuid7 } of [native, wasm]) {
    const grant = new randflake.Grant(7, 1_730_000_000, 2_803_741_000);
    const secret = new Uint8Array(16);
    for (const ids of [
      new sno.Generator(),
      new hotguid.Generator(),
      new uuid7.Generator(),
      new randflake.Generator(grant, secret),
      new layout.Generator(layout.Layout.preset("instagram", { shard: 1 })),
    ]) {
      const first = ids.generate();
      for (const hand of [
        () => new Worker("", { eval: true, workerData: { ids } }),
        () => structuredClone(ids, { transfer: [ids] }),
        () => structuredClone([ids.generate]),
        () => new MessageChannel().port1.postMessage(ids),
      ]) {
        assert.throws(hand, (error) => ["DataCloneError", "TypeError"].includes(error.name));
      }
      assert.notEqual(ids.generate(), first);
    }
  }
});

test("packed IDs can be sent to a worker", async () => {
  const { sno } = native;
  const ids = new sno.Generator().generateMany(100);
  const [{ echoed }] = await runWorkers(1, "native", { bytes: ids.bytes });
  assert.deepEqual(new sno.SnoArray(echoed).texts(), ids.texts());
});
