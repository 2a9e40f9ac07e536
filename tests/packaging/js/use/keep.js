// A user's program that stores IDs, a snapshot and a lease, and continues with them when it runs again after an update.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { sno } from "polyflake";
import { lease } from "polyflake/lease";

const STATE = "kept.json";
const kept = existsSync(STATE) ? JSON.parse(readFileSync(STATE, "utf8")) : { ids: [] };

// Node 20 has no built-in SQLite, so there the program keeps only the snapshot.
const hasSqlite = await import("node:sqlite").then(
  () => true,
  () => false,
);
const held = hasSqlite ? lease("sqlite:ids.db", "orders") : undefined;
const ids = kept.snapshot ? sno.Generator.restore(kept.snapshot) : new sno.Generator({ partition: 7 });
const generators = held ? [ids, new sno.Generator({ lease: held })] : [ids];

const newIds = [];
for (const generator of generators) for (let k = 0; k < 100; k++) newIds.push(await generator.generateAsync());
const all = [...kept.ids, ...newIds];
const highest = kept.ids.reduce((high, id) => (id > high ? id : high), "");
if (!all.every(sno.isValid)) throw new Error(`expected sno IDs, found ${all.find((id) => !sno.isValid(id))}`);
if (new Set(all).size !== all.length) throw new Error("expected different IDs, found duplicates");
if (!newIds.every((id) => id > highest)) throw new Error("expected IDs that sort after the stored ones");

await held?.close();
writeFileSync(STATE, JSON.stringify({ ids: newIds, snapshot: ids.close() }));
console.log(kept.snapshot ? "continued" : "stored");
