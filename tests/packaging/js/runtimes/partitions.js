// Tests default partitions with WebAssembly in runtimes that support threads. Creates many generators one after
// another, and generators in many threads.
import { Worker } from "node:worker_threads";
import { afterRestore, sno } from "polyflake/wasm";
import { countDistinctIds } from "./many.js";

let bits = 0;
/** Makes all random bytes equal, so that generators differ only because of the state that threads share. */
Object.defineProperty(globalThis, "crypto", { value: { getRandomValues: (bytes) => bytes.fill(bits) } });

const [threads, each] = [20, 30];

function expect(found, wanted, what) {
  if (found !== wanted) throw new Error(`${what}: expected ${wanted}, found ${found}`);
  console.log(`${what}: ${found}`);
}

sno.generate();
const workers = Array.from(
  { length: threads },
  () => new Worker(new URL("./thread.js", import.meta.url), { workerData: each }),
);
const firstPartitions = await Promise.all(
  workers.map((worker) => new Promise((done, fail) => worker.once("message", done).once("error", fail))),
);
expect(new Set(firstPartitions.flat()).size, threads * each, "partitions of threads");
// After a restore, the generators of all threads have different partitions. The restore replaces the base from which
// partitions are picked. The new base differs from the old base only in these bits, unless the runtime also provides
// random bytes from the kernel.
bits = 0x5a;
afterRestore();
const secondPartitions = await Promise.all(
  workers.map((worker) => {
    const answer = new Promise((done) => worker.once("message", done));
    worker.postMessage("again");
    return answer;
  }),
);
expect(
  new Set([...firstPartitions, ...secondPartitions].flat()).size,
  2 * threads * each,
  "partitions of threads before and after a restore",
);
await Promise.all(workers.map((worker) => worker.terminate()));
expect(countDistinctIds(sno, 70_000), 140_100, "IDs of generators in a row");
