import type { CallName, Machine } from "./machine.js";
import { MessageReader } from "./message.js";
import { withJson } from "./show.js";

/** What an ID format can do, in figures: the same in every language. In JSON, bigints are decimal strings, which `descriptionFromJson` of `polyflake/json` reads. */
export interface Description {
  /** How many bits an ID has. */
  bits: number;
  /** Its fields, from the top. */
  fields: FieldDescription[];
  /** How many IDs one generator can make in a second, floored; undefined without both a timestamp and a sequence. */
  perSecond: bigint | undefined;
  /** How many all generators together can make in a second, floored; undefined as above, and past 2^128. */
  perSecondInAll: bigint | undefined;
  /** When the first tick begins, in Unix milliseconds. */
  firstMs: bigint | undefined;
  /** When the last tick begins that 64-bit milliseconds hold, in Unix milliseconds. */
  lastMs: bigint | undefined;
  /** Whether IDs sort by time from the first tick to the last: integers as signed ones, bytes and texts bytewise. */
  sortsByTime: boolean;
  /** Whether no ID, as an unsigned integer, reaches 2^53: a number holds it. */
  below2_53: boolean;
  /** Whether no ID, as an unsigned integer, reaches 2^63: it is never negative. */
  below2_63: boolean;
}

/** One field of a format. */
export interface FieldDescription {
  /** Its name. */
  name: string;
  /** What kind of field it is. */
  kind: "timestamp" | "sequence" | "constant" | "bindable" | "unused";
  /** Bits above it. */
  offset: number;
  /** How many bits wide it is. */
  bits: number;
}

/** A field of a format that never changes. */
type Fixed = [name: string, kind: FieldDescription["kind"], bits: number];

/** The figures of a format that never changes: written down, since a machine that computes them is 2 KB larger. */
export function figuresOf(fixed: Fixed[], figures: Omit<Description, "bits" | "fields">): Description {
  let bits = 0;
  const fields = fixed.map(([name, kind, width]) => ({ name, kind, offset: (bits += width) - width, bits: width }));
  return withJson({ bits, fields, ...figures });
}

/** The figures that a call answers with. */
export function descriptionOf(m: Machine, call: CallName): Description {
  m.check(m.calls[call]());
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
