/**
 * Tests properties of each library's strings: whether each is greater than the previous one, and whether their time is
 * a clock reading.
 */
import { hotguid, sno } from "polyflake";
import { texts } from "./peers.js";

/** The libraries whose strings contain no time. */
const TIMELESS = ["crypto.randomUUID", "uuid v4", "nanoid", "hyperid", "uid, 11 letters"];

/** Returns a row. The first 13 characters of a UUID contain its time, as do 10 of a ULID and 8 of a sno. */
function formatRow(name: string, make: () => unknown): string {
  const ids = Array.from({ length: 100_000 }, () => String(make()));
  const isSorted = ids.every((id, k) => k === 0 || ids[k - 1]! < id);
  const first = name.includes("uuid") ? 13 : name.includes("ulid") ? 10 : 8;
  const before = String(make()).slice(0, first);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  const readsClock = String(make()).slice(0, first) > before;
  const yesOrNo = (is: boolean) => (is ? "yes" : "**no**");
  return `| Node: ${name} | ${yesOrNo(isSorted)} | - | ${TIMELESS.includes(name) ? "-" : yesOrNo(readsClock)} |`;
}

/** Prints a row for each library. Forks are not tested, because Node does not fork. */
export function printRows(): void {
  console.log(formatRow("sno", new sno.Generator().generate));
  console.log(formatRow("Hot Guid", new hotguid.Generator().generate).replace(/\S+ \|$/, "- |"));
  for (const { name, call } of texts()) console.log(formatRow(name, call));
}
