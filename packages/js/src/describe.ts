import type { Machine } from "./machine.js";
import { MessageReader } from "./message.js";
import { withJson } from "./show.js";

/**
 * The size, fields, rate and time span of an ID format. The values are the same in every language. In JSON, bigints are decimal
 * strings. `descriptionFromJson` from `polyflake/json` reads this JSON.
 */
export interface Description {
  /** The number of bits in an ID. */
  bits: number;
  /** The fields, starting with the most significant one. */
  fields: FieldDescription[];
  /**
   * The number of IDs that one generator can generate per second, rounded down. It is undefined unless the format has both
   * a timestamp and a sequence.
   */
  perSecond: bigint | undefined;
  /**
   * The number of IDs that all generators together can generate per second, rounded down. It is undefined if the number exceeds
   * 2^128, or if the format lacks a timestamp or a sequence.
   */
  perSecondInAll: bigint | undefined;
  /** The start of the first tick, in Unix milliseconds. */
  firstMs: bigint | undefined;
  /** The start of the last tick, in Unix milliseconds. Ticks whose start does not fit in 64-bit milliseconds are ignored. */
  lastMs: bigint | undefined;
  /**
   * `true` if IDs sort by time from the first tick to the last. Integers are compared as signed integers; bytes and strings are
   * compared bytewise.
   */
  sortsByTime: boolean;
  /** `true` if every ID, as an unsigned integer, is below 2^53, so that a JavaScript number can represent it exactly. */
  below2_53: boolean;
  /** `true` if every ID, as an unsigned integer, is below 2^63, so that it is never negative as a signed integer. */
  below2_63: boolean;
}

/** One field of an ID format. */
export interface FieldDescription {
  /** The name of the field. */
  name: string;
  /** The kind of the field. */
  kind: "timestamp" | "sequence" | "constant" | "bindable" | "random" | "unused";
  /** The number of bits that are more significant than the field. */
  offset: number;
  /** The width in bits. */
  bits: number;
}

/** A field of a fixed format. */
type FixedField = [name: string, kind: FieldDescription["kind"], bits: number];

/**
 * Returns the description of a fixed format. The values in `figures` are constants, because computing them would add 2 KB
 * to a wasm module.
 */
export function describeFixedFormat(fixed: FixedField[], figures: Omit<Description, "bits" | "fields">): Description {
  let bits = 0;
  const fields = fixed.map(([name, kind, width]) => ({ name, kind, offset: (bits += width) - width, bits: width }));
  return withJson({ bits, fields, ...figures });
}

/** Reads a description from the result of a call. */
export function readDescription(m: Machine): Description {
  return withJson(new MessageReader(m).value() as unknown as Description);
}
