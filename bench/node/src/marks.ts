/** What a library's texts keep, by trying: whether each is greater than the one before, and whether the time in them is a reading of the clock. */
import { hotguid, sno } from "polyflake";
import { texts } from "./peers.js";

/** The libraries without a time in their texts. */
const TIMELESS = ["crypto.randomUUID", "uuid v4", "nanoid", "hyperid", "uid, 11 letters"];

/** A row. The first 13 letters of a UUID hold its time, 10 of a ULID, 8 of a sno. */
function row(name: string, make: () => unknown): string {
  const ids = Array.from({ length: 100_000 }, () => String(make()));
  const keepsOrder = ids.every((id, k) => k === 0 || ids[k - 1]! < id);
  const first = name.includes("uuid") ? 13 : name.includes("ulid") ? 10 : 8;
  const before = String(make()).slice(0, first);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  const reads = String(make()).slice(0, first) > before;
  const word = (is: boolean) => (is ? "yes" : "**no**");
  return `| Node: ${name} | ${word(keepsOrder)} | - | ${TIMELESS.includes(name) ? "-" : word(reads)} |`;
}

/** Prints a row for each library. Node does not fork. */
export function show(): void {
  console.log(row("sno", new sno.Generator().generate));
  console.log(row("Hot Guid", new hotguid.Generator().generate).replace(/\S+ \|$/, "- |"));
  for (const { name, call } of texts()) console.log(row(name, call));
}
