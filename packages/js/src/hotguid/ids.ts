import { bytes, flag, integer, lengthOfArray, partOfBytes, string, time } from "../checks.js";
import { invalidLength, PolyflakeError } from "../errors.js";
import type { CallName, Machine } from "../machine.js";
import { fields, members } from "../members.js";
import { machine } from "./machine.js";

/** Bytes of an ID. */
export const LENGTH = 16;
/** Characters of its text. */
export const TEXT_LENGTH = 36;

/** Where a parsed ID's bytes lie: behind its text in RFC's order, in .NET's, those of the machine. */
const RFC = TEXT_LENGTH;
const DOTNET = RFC + LENGTH;
const MACHINE = DOTNET + LENGTH;
const MACHINE_LENGTH = 5;

/** What an ID holds. */
export interface Parts {
  /** When it was made, in Unix seconds: 0..4294967295. */
  timestamp: number;
  /** What tells its generator from all others: 5 bytes. */
  machine: Uint8Array;
  /** Which one of its second it was, from any start: 0..16777215. */
  counter: number;
  /** What the application routes by: 0..4294967295. */
  shardKey: number;
}

/**
 * The ID of a text: hex in either case, with hyphens. An ID is its text in lower case.
 *
 * @throws {PolyflakeError} `invalid_type`, `invalid_length`, or `invalid_character` with the position.
 */
export function parse(text: string): string {
  return read(text, "text").ascii(0, TEXT_LENGTH);
}

/** Whether a value is the text of an ID, in either case: every GUID's text is one. */
export function isValid(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const m = machine();
  m.putText(value);
  return m.calls.hotguidParse() === 0;
}

/**
 * The fields of an ID. Every GUID has some: that they make sense says nothing.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function parts(id: string): Parts {
  const m = read(id);
  const [timestamp, counter, shardKey] = m.numbers as unknown as number[];
  return {
    timestamp: timestamp!,
    machine: m.bytes.slice(MACHINE, MACHINE + MACHINE_LENGTH),
    counter: counter!,
    shardKey: shardKey!,
  };
}

/**
 * The ID of given fields; that it is made only once is the caller's concern.
 *
 * @throws {PolyflakeError} `missing_field`, `invalid_type`; `invalid_length` for other than 5 bytes of `machine`;
 * `time_out_of_range` for the timestamp, `out_of_range` for the others.
 */
export function fromParts(parts: Parts): string {
  const given = fields(parts, "parts", ["timestamp", "machine", "counter", "shardKey"]);
  const length = lengthOfArray(bytes(given.machine, "machine"));
  if (length !== MACHINE_LENGTH) {
    const message = `expected ${MACHINE_LENGTH} bytes of machine, found ${length}`;
    throw new PolyflakeError("invalid_length", message, { field: "machine" });
  }
  const names = ["timestamp", "counter", "shardKey"] as const;
  const numbers = names.map((name) => integer(given[name], name));
  const m = machine();
  m.numbers.set(numbers);
  m.bytes.set(partOfBytes(given.machine as Uint8Array, 0, MACHINE_LENGTH));
  m.check(m.calls.hotguidFromParts());
  return m.ascii(0, TEXT_LENGTH);
}

/**
 * What the application routes by, 0..4294967295.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function shardKey(id: string): number {
  return read(id).numbers[2]!;
}

/**
 * When an ID was made, in Unix seconds.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function timestamp(id: string): number {
  return read(id).numbers[0]!;
}

/**
 * The GUID that SQL Server sorts by time, to be stored in a `uniqueidentifier` column.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function toSql(id: string): string {
  return convert(id, "id", "hotguidToSql");
}

/**
 * The ID of a GUID that SQL Server sorts by time: {@link toSql} undone.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function fromSql(guid: string): string {
  return convert(guid, "guid", "hotguidFromSql");
}

/**
 * The 16 bytes in the order of the text, which is RFC 9562's: they sort by time.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function toBytes(id: string): Uint8Array {
  return read(id).bytes.slice(RFC, RFC + LENGTH);
}

/**
 * The ID of 16 bytes in the order of the text; every 16 bytes are one.
 *
 * @throws {PolyflakeError} `invalid_type`, `invalid_length`.
 */
export function fromBytes(id: Uint8Array): string {
  machine().numbers[0] = 1;
  return ofBytes(id, "hotguidTexts");
}

/**
 * The 16 bytes in the order of .NET's `Guid.ToByteArray()`.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function toDotnetBytes(id: string): Uint8Array {
  return read(id).bytes.slice(DOTNET, DOTNET + LENGTH);
}

/**
 * The ID of 16 bytes in the order of .NET's `Guid.ToByteArray()`.
 *
 * @throws {PolyflakeError} `invalid_type`, `invalid_length`.
 */
export function fromDotnetBytes(id: Uint8Array): string {
  return ofBytes(id, "hotguidFromDotnet");
}

/**
 * The lowest and the highest ID (both inclusive) of the half-open time range `start`..`end`, for BETWEEN queries; where `sql`
 * is true, as GUIDs that SQL Server sorts by time. Times are Dates or integer Unix milliseconds. An ID is in the range if its
 * own second begins in it.
 *
 * @throws {PolyflakeError} `invalid_type`; `time_out_of_range` before 1970 or past 2106; `out_of_range` where the range is
 * reversed, or holds no second.
 */
export function timeRange(
  start: Date | number,
  end: Date | number,
  options: { sql?: boolean } = {},
): { lowest: string; highest: string } {
  const times = [time(start, "start"), time(end, "end")] as const;
  const { sql } = members(options, "options", ["sql"]);
  const m = machine();
  m.numbers.set([...times, Number(flag(sql, "sql"))]);
  m.check(m.calls.hotguidTimeRange());
  return { lowest: m.ascii(0, TEXT_LENGTH), highest: m.ascii(TEXT_LENGTH, TEXT_LENGTH) };
}

/** Parses a text; what is known of it lies in the scratch area then. */
function read(text: string, field = "id"): Machine {
  const m = machine();
  m.putText(string(text, field));
  m.checkText(m.calls.hotguidParse(), field);
  return m;
}

function convert(text: string, field: string, call: CallName): string {
  const m = machine();
  m.putText(string(text, field));
  m.checkText(m.calls[call](), field);
  return m.ascii(0, TEXT_LENGTH);
}

function ofBytes(id: Uint8Array, call: CallName): string {
  const length = lengthOfArray(bytes(id, "id"));
  if (length !== LENGTH) throw invalidLength(LENGTH, length, { field: "id" });
  const m = machine();
  m.bytes.set(partOfBytes(id, 0, LENGTH));
  m.check(m.calls[call]());
  return m.ascii(0, TEXT_LENGTH);
}
