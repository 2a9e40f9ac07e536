// Prints how long a lease renewal takes after the wall clock jumps, as it does after a restore. See `window.py`.
import { renameSync, writeFileSync } from "node:fs";
import { argv, env } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { sno } from "polyflake";
import { lease } from "polyflake/lease";

const [file, renewed, times] = [env.FAKETIME_TIMESTAMP_FILE, [], []];
const watch = ({ name }) => name === "renewed" && renewed.push(performance.now());
const heldLease = lease(argv[2], "windows", { watch });
new sno.Generator({ lease: heldLease });
await heldLease.ready();
for (let round = 1; round <= 20; round++) {
  await sleep(round * 500);
  writeFileSync(`${file}.new`, `+${5 * round}\n`);
  const moved = performance.now();
  renameSync(`${file}.new`, file);
  while (renewed.length < round) await sleep(1);
  times.push((renewed.at(-1) - moved) / 1000);
}
await heldLease.close();
times.sort((a, b) => a - b);
console.log(`${times[0].toFixed(1)} to ${times[19].toFixed(1)} s, median ${((times[9] + times[10]) / 2).toFixed(1)} s`);
