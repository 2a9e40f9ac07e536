// The program run by each worker thread or cluster process. It generates IDs with the default generators and sends them
// to its parent.
import cluster from "node:cluster";
import { parentPort, workerData } from "node:worker_threads";

const { machine, count, bytes } = workerData ?? { machine: process.argv[2], count: Number(process.argv[3]) };
const { hotguid, sno, uuid7 } = await import(`polyflake/${machine}`);

const repeatCall = (make) => Array.from({ length: count }, make);
const idsByFormat = {
  sno: repeatCall(() => sno.generate()),
  hotguid: repeatCall(() => hotguid.generate()),
  uuid7: repeatCall(() => uuid7.generate()),
  echoed: bytes,
};
if (cluster.isWorker) process.send(idsByFormat);
else parentPort.postMessage(idsByFormat);
