// Records a lease's events in the file that `lease/tests/faults/run.rs` reads.
import { openSync, writeSync } from "node:fs";

const grantsFile = openSync(process.env.POLYFLAKE_LOG.replace(/\.log$/, ".grants"), "a");

export function report({ name, number, start, end, usedUntil }) {
  if (name === "acquired" || name === "moved") writeSync(grantsFile, `begin ${number} ${start} ${end}\n`);
  if (name === "renewed") writeSync(grantsFile, `extend ${number} ${end}\n`);
  if (name === "sealed") writeSync(grantsFile, `end ${number} ${usedUntil ?? 0}\n`);
}
