// A Node process for the fault tests of leases (`lease/tests/faults/life.rs`). It records each ID that it generates and
// each event of its lease. It exits when its input ends, or on SIGTERM.
import { openSync, writeSync } from "node:fs";
import { sno } from "polyflake";
import { lease } from "polyflake/lease";
import { report } from "./report.mjs";

const { POLYFLAKE_LIFE, POLYFLAKE_LOG, POLYFLAKE_NAMESPACE, POLYFLAKE_LAST } = process.env;
let isOver = false;

process.stdin.resume().on("end", () => (isOver = true));
process.on("SIGTERM", () => (isOver = true));
const log = openSync(POLYFLAKE_LOG, "wx"); // once this file exists, signals may be sent

/** Generates a few IDs with each of many generators that have the same worker ID. */
async function runWithRestarts(partition) {
  while (!isOver) {
    const ids = new sno.Generator({ partition });
    const count = 1 + Math.floor(Math.random() * 7);
    for (let i = 0; i < count; i++) writeSync(log, sno.toBytes(await ids.generateAsync()));
    ids.close();
  }
}

async function runWithLease() {
  const heldLease = lease(POLYFLAKE_LIFE, POLYFLAKE_NAMESPACE, {
    workerIds: [0, Number(POLYFLAKE_LAST)],
    leaseMs: Number(process.env.POLYFLAKE_LEASE_MS),
    watch: report,
  });
  const ids = new sno.Generator({ lease: heldLease });
  while (!isOver) {
    let pause = 1;
    try {
      writeSync(log, sno.toBytes(ids.tryGenerate()));
    } catch (error) {
      if (typeof error.code !== "string") throw error;
      pause = 5;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  await heldLease.close();
}

const { POLYFLAKE_EXPLICIT } = process.env;
await (POLYFLAKE_EXPLICIT === undefined ? runWithLease() : runWithRestarts(Number(POLYFLAKE_EXPLICIT)));
process.exit();
