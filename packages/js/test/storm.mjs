// A thread that constructs generators with the addon. Without a seed, it uses the generators of its parent. With a seed, it
// constructs `count` generators with four partitions, and closes some, restores some from snapshots, and drops the others.
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parentPort, workerData } from "node:worker_threads";
import { sno } from "polyflake/native";

const { seed, count, first, partition, ofClock } = workerData;

function codeOf(call) {
  try {
    call();
  } catch (error) {
    return [error.code, error.field];
  }
}

function useGeneratorsOfParent() {
  const ids = new sno.Generator({ partition });
  const made = [...ids.generateMany(10)];
  const errors = [codeOf(() => new sno.Generator({ partition: ofClock, clock: () => Date.now() }))];
  errors.push(codeOf(() => new sno.Generator({ partition, maxWait: 5 })));
  ids.close();
  return { made, errors };
}

/** The codes of errors that other threads cause. */
const EXPECTED = new Set(["worker_id_in_use", "generator_closed"]);

async function storm() {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const [made, snapshots] = [[], []];
  let random = seed;
  const next = () => (random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0) >>> 8;
  for (let k = 0; k < count; k++) {
    if (k % 250 === 249) {
      // A generator is released in a later turn of the event loop than the one that has used it.
      await setImmediate();
      collect();
      await setImmediate();
    }
    try {
      const snapshot = next() % 4 === 0 ? snapshots.pop() : undefined;
      const partition = first + (next() % 4);
      const ids = snapshot ? sno.Generator.restore(snapshot) : new sno.Generator({ partition });
      for (let left = next() % 3; left > 0; left--) made.push(ids.generate());
      // Until it is collected, a restored generator keeps all other threads from its partition, so few are dropped.
      if (next() % 32 === 0 ? !snapshot : snapshot) snapshots.push(ids.close());
    } catch (error) {
      if (!EXPECTED.has(error.code)) throw error;
    }
  }
  return made;
}

parentPort.postMessage(seed === undefined ? useGeneratorsOfParent() : await storm());
