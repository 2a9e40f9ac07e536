// A Worker in workerd for the fault tests of leases (`lease/tests/faults/life.rs`). This process sends requests to the
// Worker one after another. It records each ID in the responses and each event of the Worker's lease. It exits when its
// input ends, or on SIGTERM.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { sno } from "polyflake";
import { report } from "./report.mjs";

const { POLYFLAKE_LIFE, POLYFLAKE_LOG, POLYFLAKE_NAMESPACE, POLYFLAKE_LAST, POLYFLAKE_EXPLICIT } = process.env;
let isOver = false;
process.stdin.resume().on("end", () => (isOver = true));
process.on("SIGTERM", () => (isOver = true));

// workerd fails to start if the library that steps the clock is preloaded, so remove the variable that preloads it.
const { LD_PRELOAD: _, ...others } = process.env;
const env = { ...others, POLYFLAKE_WORKER: join(import.meta.dirname, "life-worker.js"), POLYFLAKE_TOKENS: "" };
const nodeArguments = [join(import.meta.dirname, "cloudflare.mjs"), `${POLYFLAKE_LOG}.disk`];
const workerd = spawn(process.execPath, nodeArguments, { env, stdio: ["pipe", "pipe", "inherit"] });
const [port] = String(await once(workerd.stdout, "data")).split(" ");
const log = openSync(POLYFLAKE_LOG, "wx"); // once this file exists, signals may be sent

const settings =
  POLYFLAKE_EXPLICIT === undefined
    ? { url: POLYFLAKE_LIFE, namespace: POLYFLAKE_NAMESPACE, last: Number(POLYFLAKE_LAST) }
    : { partition: Number(POLYFLAKE_EXPLICIT) };

async function request(isLast) {
  const body = JSON.stringify({ ...settings, isLast });
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body });
  const { made, events } = await response.json();
  for (const id of made) writeSync(log, sno.toBytes(id));
  events.forEach(report);
}

while (!isOver) {
  await request(false);
  await new Promise((resolve) => setTimeout(resolve, 25));
}
await request(true);
workerd.stdin.end();
await once(workerd, "exit");
process.exit();
