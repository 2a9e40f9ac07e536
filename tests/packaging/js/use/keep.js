// A user's program that stores IDs, a snapshot and a lease, and continues with them when it runs again after an update.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { sno } from "polyflake";
import { lease } from "polyflake/lease";

const STATE_FILE = "kept.json";
const keptState = existsSync(STATE_FILE) ? JSON.parse(readFileSync(STATE_FILE, "utf8")) : { ids: [] };

// Node 20 has no built-in SQLite module, so the program uses no lease in that version.
const hasSqlite = await import("node:sqlite").then(
  () => true,
  () => false,
);
const heldLease = hasSqlite ? lease("sqlite:ids.db", "orders") : undefined;
const partitionGenerator = keptState.snapshot
  ? sno.Generator.restore(keptState.snapshot)
  : new sno.Generator({ partition: 7 });
const generators = heldLease ? [partitionGenerator, new sno.Generator({ lease: heldLease })] : [partitionGenerator];

const newIds = [];
for (const generator of generators) for (let k = 0; k < 100; k++) newIds.push(await generator.generateAsync());
const allIds = [...keptState.ids, ...newIds];
const highestId = keptState.ids.reduce((high, id) => (id > high ? id : high), "");
if (!allIds.every(sno.isValid)) throw new Error(`expected sno IDs, found ${allIds.find((id) => !sno.isValid(id))}`);
if (new Set(allIds).size !== allIds.length) throw new Error("expected different IDs, found duplicates");
if (!newIds.every((id) => id > highestId)) throw new Error("expected IDs that sort after the stored ones");

await heldLease?.close();
writeFileSync(STATE_FILE, JSON.stringify({ ids: newIds, snapshot: partitionGenerator.close() }));
console.log(keptState.snapshot ? "continued" : "stored");
