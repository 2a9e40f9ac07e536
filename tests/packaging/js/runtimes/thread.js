// Reports the partitions of a thread's generators, which remain in use until the thread is terminated.
import { parentPort, workerData } from "node:worker_threads";

Object.defineProperty(globalThis, "crypto", { value: { getRandomValues: (bytes) => bytes } });

const { sno } = await import("polyflake/wasm");
const generators = Array.from({ length: workerData }, () => new sno.Generator());
const report = () => parentPort.postMessage(generators.map(({ generate }) => sno.parse(generate()).partition));
parentPort.on("message", report);
report();
