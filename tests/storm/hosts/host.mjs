// Runs an adapter's generator as the environment variables specify, and prints the IDs in chunks in the format of
// `src/chunk.rs`.
//
// Usage: `node host.mjs ADAPTER`. The adapter is a module that exports `generator(worker)`, which returns a function
// that returns an ID. Node cannot fork, so the only supported shapes are `plain` and `threads`. With `threads`, each
// worker thread loads the module.
import { readSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const { STORM_SHAPE, STORM_WIDTH, STORM_IDS, STORM_PAUSE_US, STORM_WORKER, STORM_RENEW } = process.env;
const CHUNK_SIZE = 50;
const MAX_LINE_LENGTH = 4096;
/**
 * The numbers of failed calls after which a thread gives up. The first limit applies until the thread has generated an
 * ID, and the second limit applies afterward.
 */
const RETRY_LIMITS = [20, 3000];

/**
 * Writes a line with a single call, so that lines of several threads never mix. In Node, a write to standard output
 * fails instead of blocking, so it is retried.
 */
function writeLine(text) {
  for (;;) {
    try {
      return writeSync(1, `${text.replaceAll("\n", " ").slice(0, MAX_LINE_LENGTH - 1)}\n`);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      sleep(1);
    }
  }
}
const sleep = (ms) => ms > 0 && Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/**
 * Returns the readings of the monotonic clock and the wall clock in nanoseconds. The wall clock reading is the end of
 * the current millisecond, because no call reads the wall clock more precisely.
 */
const now = () => [process.hrtime.bigint(), `${Date.now()}999999`];

/** Generates a chunk of IDs. Returns the IDs, and the error if a call failed. */
function generateChunk(make, count) {
  const ids = [];
  let size = 0;
  try {
    while (ids.length < count && size < MAX_LINE_LENGTH - 200) {
      ids.push(String(make()));
      size += ids.at(-1).length + 1;
    }
  } catch (error) {
    return [ids, error];
  }
  return [ids];
}

function generate(thread, make, count) {
  let [done, failed, start] = [0, 0, performance.now()];
  while (done < count && failed < RETRY_LIMITS[Number(done > 0)]) {
    sleep(start - performance.now());
    start = performance.now() + Number(STORM_PAUSE_US) / 1000;
    const [begin, wallBegin] = now();
    const [ids, error] = generateChunk(make, Math.min(CHUNK_SIZE, count - done));
    const [end, wallEnd] = now();
    done += ids.length;
    if (ids.length > 0) writeLine(`# ${thread} 0 ${begin} ${end} ${wallBegin} ${wallEnd} ${ids.join(" ")}`);
    if (error !== undefined) {
      failed += 1;
      writeLine(`! ${error.name}: ${error.code ?? error.message}`);
      sleep(1);
    }
  }
}

const adapter = await import(pathToFileURL(process.argv[2]));
if (!isMainThread) {
  generate(workerData.thread, adapter.generator(workerData.worker), Number(STORM_IDS));
} else {
  writeLine("?");
  readSync(0, new Uint8Array(16));
  if (STORM_SHAPE === "threads") {
    const ended = Array.from({ length: Number(STORM_WIDTH) }, (_, thread) => {
      const worker = Number(STORM_WORKER) + (STORM_RENEW ? thread : 0);
      const started = new Worker(import.meta.filename, { argv: [process.argv[2]], workerData: { thread, worker } });
      return new Promise((resolve, reject) => started.on("exit", resolve).on("error", reject));
    });
    await Promise.all(ended);
  } else {
    generate(0, adapter.generator(Number(STORM_WORKER)), Number(STORM_IDS));
  }
  writeLine(".");
  process.exit(0);
}
