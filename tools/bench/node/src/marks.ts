/**
 * Tests two properties of each library's strings: whether each string is greater than the previous one, and whether the
 * time in the strings comes from a clock reading.
 */
import { hotguid, sno } from "polyflake";
import { texts } from "./peers.js";

/** The libraries whose strings contain no time. */
const TIMELESS_ENTRIES = ["crypto.randomUUID", "uuid v4", "nanoid", "hyperid", "uid, 11 letters"];

/**
 * Returns a table row for a library. The time is in the first 13 characters of a UUID, the first 10 characters of a ULID,
 * and the first 8 characters of a sno.
 */
function formatRow(name: string, make: () => unknown): string {
  const ids = Array.from({ length: 100_000 }, () => String(make()));
  const isSorted = ids.every((id, k) => k === 0 || ids[k - 1]! < id);
  const first = name.includes("uuid") ? 13 : name.includes("ulid") ? 10 : 8;
  const before = String(make()).slice(0, first);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  const readsClock = String(make()).slice(0, first) > before;
  const yesOrNo = (is: boolean) => (is ? "yes" : "**no**");
  return `| Node: ${name} | ${yesOrNo(isSorted)} | - | ${TIMELESS_ENTRIES.includes(name) ? "-" : yesOrNo(readsClock)} |`;
}

/** Prints a row for each library. Forks are not tested, because Node cannot fork a running process. */
export function printRows(): void {
  console.log(formatRow("sno", new sno.Generator().generate));
  console.log(formatRow("Hot Guid", new hotguid.Generator().generate).replace(/\S+ \|$/, "- |"));
  for (const { name, call } of texts()) console.log(formatRow(name, call));
}
