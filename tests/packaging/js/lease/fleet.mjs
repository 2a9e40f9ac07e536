// Runs a fleet of makers in one program. A maker is a node:cluster process or a thread that starts, generates IDs with
// the default generators, and exits.
import cluster from "node:cluster";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { hotguid, sno } from "polyflake";

const [, , kind, most, atOnce] = process.argv;

/** Returns a maker's report, which contains the IDs that the maker generates right after it starts. */
const makeReport = () => {
  const ids = Array.from({ length: 2000 }, () => sno.generate());
  const guids = Array.from({ length: 2000 }, () => hotguid.generate());
  return { workerId: sno.parse(ids[0]).partition, ids: [...ids, ...guids] };
};

if (cluster.isWorker) process.send(makeReport(), () => setTimeout(() => cluster.worker.disconnect(), 300));
else if (!isMainThread) {
  parentPort.postMessage(makeReport());
  setTimeout(() => {}, 300);
} else {
  const reports = [makeReport()];
  let begun = 0;
  const begin = () => {
    if (begun++ >= Number(most)) return;
    const maker =
      kind === "cluster" ? cluster.fork() : new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) });
    maker.on("message", (report) => reports.push(report));
    maker.on("exit", (code) => {
      if (code !== 0) throw new Error(`a maker ended with ${code}`);
      begin();
    });
  };
  for (let k = 0; k < Number(atOnce); k++) begin();
  process.once("beforeExit", () => process.stdout.write(JSON.stringify(reports)));
}
