import type { Machine } from "./machine.js";
import { MessageReader } from "./message.js";
import { withJson } from "./show.js";

/**
 * Figures of an ID format, the same in every language. In JSON, bigints are decimal strings, which `descriptionFromJson` of
 * `polyflake/json` reads.
 */
export interface Description {
  /** Number of bits in an ID. */
  bits: number;
  /** Fields, from the most significant bit on. */
  fields: FieldDescription[];
  /** Most IDs that one generator can make in a second, floored; undefined unless the format has a timestamp and a sequence. */
  perSecond: bigint | undefined;
  /** Most IDs that all generators together can make in a second, floored; undefined as above, and past 2^128. */
  perSecondInAll: bigint | undefined;
  /** Start of the first tick, in Unix milliseconds. */
  firstMs: bigint | undefined;
  /** Start of the last tick that 64-bit milliseconds hold, in Unix milliseconds. */
  lastMs: bigint | undefined;
  /** `true` if IDs sort by time from the first tick to the last: integers as signed integers, bytes and texts bytewise. */
  sortsByTime: boolean;
  /** `true` if every ID, as an unsigned integer, is below 2^53, so that a number holds it. */
  below2_53: boolean;
  /** `true` if every ID, as an unsigned integer, is below 2^63, so that a signed integer is never negative. */
  below2_63: boolean;
}

/** One field of a format. */
export interface FieldDescription {
  /** Name of the field. */
  name: string;
  /** Kind of the field. */
  kind: "timestamp" | "sequence" | "constant" | "bindable" | "unused";
  /** Number of bits above it. */
  offset: number;
  /** Width in bits. */
  bits: number;
}

/** A field of a fixed format. */
type Fixed = [name: string, kind: FieldDescription["kind"], bits: number];

/** The figures of a format that never changes, written down because computing them would add 2 KB to a machine. */
export function figuresOf(fixed: Fixed[], figures: Omit<Description, "bits" | "fields">): Description {
  let bits = 0;
  const fields = fixed.map(([name, kind, width]) => ({ name, kind, offset: (bits += width) - width, bits: width }));
  return withJson({ bits, fields, ...figures });
}

/** Reads the figures from the answer of a call. */
export function descriptionOf(m: Machine): Description {
  const message = new MessageReader(m);
  const [bits, perSecond, perSecondInAll, firstMs, lastMs] = Array.from({ length: 5 }, () => message.integer());
  const [sortsByTime, below2_53, below2_63] = Array.from({ length: 3 }, () => message.value() as boolean);
  return withJson({
    bits: Number(bits),
    fields: fieldsOf(message),
    perSecond,
    perSecondInAll,
    firstMs,
    lastMs,
    sortsByTime: sortsByTime!,
    below2_53: below2_53!,
    below2_63: below2_63!,
  });
}

function fieldsOf(message: MessageReader): FieldDescription[] {
  const fields: FieldDescription[] = [];
  while (message.hasMore) {
    fields.push({
      name: message.value() as string,
      kind: message.value() as FieldDescription["kind"],
      offset: Number(message.integer()),
      bits: Number(message.integer()),
    });
  }
  return fields;
}
