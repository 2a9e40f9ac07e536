// Records a lease's events in the file that `lease/tests/faults/run.rs` reads.
import { openSync, writeSync } from "node:fs";

const grantsFile = openSync(process.env.POLYFLAKE_LOG.replace(/\.log$/, ".grants"), "a");

export function report({ name, workerId, start, end, usedUntil }) {
  if (name === "acquired" || name === "switched") writeSync(grantsFile, `begin ${workerId} ${start} ${end}\n`);
  if (name === "renewed") writeSync(grantsFile, `extend ${workerId} ${end}\n`);
  if (name === "sealed") writeSync(grantsFile, `end ${workerId} ${usedUntil ?? 0}\n`);
}
