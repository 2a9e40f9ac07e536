import { bytes, flag, integer, lengthOfArray, string, time } from "../checks.js";
import { invalidLength } from "../errors.js";
import { ABSENT, type Machine } from "../machine.js";
import { fields } from "../members.js";
import { formatUuid, parseUuid } from "../uuid.js";
import { machine } from "./machine.js";

/** Bytes of an ID. */
export const LENGTH = 10;
/** Characters of its text. */
export const TEXT_LENGTH = 16;

/** The fields of an ID. */
export interface Parts {
  /** 4 ms units since 2010-01-01T00:00:00Z: 39 bits. */
  tick: number;
  /** Flips when the clock steps back. */
  tickTock: boolean;
  /** What the ID is of, 0..255; yours to give meaning. */
  metabyte: number;
  /** Which generator made it, 0..65535. */
  partition: number;
  /** Counts within a tick, 0..65535. */
  sequence: number;
}

/** The fields of an ID, and when it was made. */
export interface Fields extends Parts {
  /** When its tick began. */
  timestamp: Date;
  /** When its tick began, in Unix milliseconds. */
  unixMs: number;
}

/**
 * The fields of an ID's text.
 *
 * @throws {PolyflakeError} `invalid_type`, `invalid_length`, or `invalid_character` with the position.
 */
export function parse(text: string): Fields {
  const m = read(text);
  const [unixMs, tick, tickTock, metabyte, partition, sequence] = m.numbers as unknown as number[];
  return {
    timestamp: new Date(unixMs!),
    unixMs: unixMs!,
    tick: tick!,
    tickTock: tickTock === 1,
    metabyte: metabyte!,
    partition: partition!,
    sequence: sequence!,
  };
}

/** Whether a value is the text of an ID: 16 characters of `[2-9a-x]`. */
export function isValid(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const m = machine();
  m.putText(value);
  return m.calls.snoParse() === 0;
}

/**
 * The metabyte of a text, 0..255, without parsing the rest of it: only the length and the two characters that hold it are
 * checked. `polyflake/decode` has the same without wasm.
 *
 * @throws {PolyflakeError} `invalid_type`, `invalid_length`, or `invalid_character` with the position.
 */
export function metabyte(text: string): number {
  const m = machine();
  m.putText(string(text, "text"));
  m.checkText(m.calls.snoMetabyte(), "text");
  return m.numbers[0]!;
}

/**
 * The same ID with another metabyte (0..255): a version, another type.
 *
 * @throws {PolyflakeError} as {@link parse}; `out_of_range`.
 */
export function withMetabyte(text: string, metabyte: number): string {
  return withFields(text, integer(metabyte, "metabyte"), ABSENT, ABSENT);
}

/**
 * The same ID with another partition (0..65535).
 *
 * @throws {PolyflakeError} as {@link parse}; `out_of_range`.
 */
export function withPartition(text: string, partition: number): string {
  return withFields(text, ABSENT, integer(partition, "partition"), ABSENT);
}

/**
 * The same ID with another sequence (0..65535).
 *
 * @throws {PolyflakeError} as {@link parse}; `out_of_range`.
 */
export function withSequence(text: string, sequence: number): string {
  return withFields(text, ABSENT, ABSENT, integer(sequence, "sequence"));
}

function withFields(text: string, metabyte: number, partition: number, sequence: number): string {
  const m = machine();
  m.putText(string(text, "text"));
  m.numbers[1] = metabyte;
  m.numbers[2] = partition;
  m.numbers[3] = sequence;
  m.checkText(m.calls.snoWith(), "text");
  return m.text(0);
}

/**
 * The lowest and the highest ID (both inclusive) of the half-open time range `start`..`end`, for BETWEEN queries. Times are
 * Dates or integer Unix milliseconds.
 *
 * @throws {PolyflakeError} `time_out_of_range` before 2010 or past 2079; `out_of_range` where the range is reversed, or
 * holds no tick of 4 ms.
 */
export function timeRange(start: Date | number, end: Date | number): { lowest: string; highest: string } {
  const [first, last] = [time(start, "start"), time(end, "end")];
  const m = machine();
  m.numbers[0] = first;
  m.numbers[1] = last;
  m.check(m.calls.snoTimeRange());
  return { lowest: m.text(0), highest: m.text(1) };
}

/**
 * The ID of given fields; it also takes what {@link parse} gives, where the tick decides about the time.
 *
 * @throws {PolyflakeError} `missing_field`, `invalid_type`, `out_of_range` with the field.
 */
export function fromParts(parts: Parts): string {
  const names = ["tick", "tickTock", "metabyte", "partition", "sequence"] as const;
  const given = fields(parts, "parts", names);
  const values = names.map((name) => (name === "tickTock" ? Number(flag(given[name], name)) : integer(given[name], name)));
  const m = machine();
  m.numbers.set(values);
  m.check(m.calls.snoFromParts());
  return m.text(0);
}

/**
 * The ID of its 10 bytes; every 10 bytes are one.
 *
 * @throws {PolyflakeError} `invalid_type`, `invalid_length`.
 */
export function fromBytes(id: Uint8Array): string {
  const length = lengthOfArray(bytes(id, "id"));
  if (length !== LENGTH) throw invalidLength(LENGTH, length, { field: "id" });
  const m = machine();
  m.bytes.set(id);
  m.numbers[0] = 1;
  m.check(m.calls.snoTexts());
  return m.text(0);
}

/**
 * The 10 bytes of an ID, in the order of time.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function toBytes(text: string): Uint8Array {
  return read(text).bytes.slice(0, LENGTH);
}

/**
 * The value of a UUID column, in its usual text: the 16 characters of the ID's text are the 16 bytes.
 *
 * @throws {PolyflakeError} as {@link parse}.
 */
export function toUuid(text: string): string {
  read(text);
  return formatUuid(Array.from(text, (character) => character.charCodeAt(0)));
}

/**
 * The ID in a UUID column's value, given as the usual text in either case.
 *
 * @throws {PolyflakeError} `invalid_type`, `invalid_length`; `invalid_character` with the position in the UUID's text, or of
 * the byte that no ID has.
 */
export function fromUuid(uuid: string): string {
  const value = parseUuid(string(uuid, "uuid"));
  const m = machine();
  m.bytes.set(value);
  m.checkText(m.calls.snoFromUuid(), "uuid");
  return m.text(0);
}

/** Parses a text; the fields are among the numbers then, and the bytes among the bytes. */
export function read(text: string, field = "text"): Machine {
  const m = machine();
  m.putText(string(text, field));
  m.checkText(m.calls.snoParse(), field);
  return m;
}
