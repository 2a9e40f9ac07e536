import {
  arrayLength,
  byteRange,
  type Column,
  checkAtMost,
  checkBigInt64Array,
  checkBytes,
  isColumn,
  isNumbers,
  runWithDates,
} from "../checks.js";
import type { Description, FieldDescription } from "../describe.js";
import { invalidType, PolyflakeError } from "../errors.js";
import type { Handle } from "../handle.js";
import { MessageWriter, readAnswerBytes } from "../message.js";
import { fillUp } from "../packed.js";
import { register } from "../protocol.js";
import { arrayOf, type LayoutArray, maxBatchSize, maxCount } from "./array.js";
import type { BindableInputs, IfBindables, RejectNamesIfEmpty } from "./bindables.js";
import type { Kind } from "./description.js";
import { BINDABLE, CONSTANT, NUMBER_BITS, SEQUENCE, TIME, type Value, type Values, ValuesWriter } from "./values.js";

export type { Column } from "../checks.js";

/** Values for many IDs: columns with one value per ID, and single values that are the same in all IDs. */
export type PackColumns<Bindables extends Values = Values> = FixedColumns &
  IfBindables<
    Bindables,
    { bindables?: ColumnInputs<Bindables> & RejectNamesIfEmpty<Bindables> },
    { bindables: ColumnInputs<Bindables> }
  >;

/** Values for all bindable fields, by name. */
type ColumnInputs<Bindables> = { readonly [Name in keyof Bindables]: Column | BindableInputs<Bindables>[Name] };

interface FixedColumns {
  /** The time, as a Date or Unix milliseconds, rounded down to the layout's tick. */
  timestamp?: Column | Date | number | bigint;
  /** The sequence number. */
  sequence?: Column | number | bigint;
  /** Values, by field name, that override the layout's constants in these IDs. */
  constants?: Readonly<Record<string, Column | Value>>;
}

/**
 * The fields of many IDs. Each column has one value per ID. It is a Float64Array for a field of at most 53 bits, and a
 * BigInt64Array for a wider field. Fields that hold bytes, strings or more than 64 bits have no column, so read them one ID at
 * a time.
 */
export interface ParsedColumns<Bindables extends Values = Values> {
  /** The start of each ID's tick, in Unix milliseconds, rounded down; undefined if the layout has no timestamp. */
  unixMs: BigInt64Array | undefined;
  /** The sequence number of each ID; undefined if the layout has no sequence. */
  sequence: Column | undefined;
  /**
   * The columns of the bindable fields, by name, starting with the most significant field. Fields without a column are omitted.
   */
  bindables: ColumnsOf<Bindables>;
  /**
   * The columns of the constant fields, by name, starting with the most significant field. They contain the values in the IDs,
   * which can differ from the layout's constants. Fields without a column are omitted.
   */
  constants: Record<string, Column | undefined>;
}

/** The columns of bindable fields. Only fields that hold integers of at most 64 bits have a column. */
type ColumnsOf<Bindables> = string extends keyof Bindables
  ? Record<string, Column | undefined>
  : { [Name in keyof Bindables as Bindables[Name] extends number | bigint ? Name : never]: ColumnOf<Bindables[Name]> };
type ColumnOf<Value> = Value extends number ? Float64Array : BigInt64Array | undefined;

/**
 * The message for a call. All calls can share the message, because none of the caller's code runs while the message is
 * being written.
 */
const message = /* @__PURE__ */ new MessageWriter();

const ROLES: Readonly<Record<string, number>> = {
  timestamp: TIME,
  sequence: SEQUENCE,
  bindable: BINDABLE,
  constant: CONSTANT,
};

/** Packs a layout's IDs from columns. */
export function packColumns<K extends Kind>(
  handle: Handle,
  kind: { bits: number; isInteger: boolean },
  given: unknown,
): LayoutArray<K> {
  const m = handle.machine;
  const values = new ColumnsWriter();
  values.all(given);
  const size = kind.bits / 8;
  const many = new Uint8Array(checkAtMost(values.count(), "count", maxCount(size)) * size);
  fillUp(many, size, maxBatchSize(size), (count, from) => {
    values.part(from, from + count);
    message.put(m);
    m.numbers.set([count, from], register.count);
    return readAnswerBytes(runWithDates(values.times, () => handle.call("layoutPackColumns")));
  });
  return arrayOf(kind, many);
}

/** Reads a layout's packed IDs into columns. */
export function parseColumns(
  handle: Handle,
  { bits, fields }: Description,
  isInteger: boolean,
  given: unknown,
): ParsedColumns {
  const size = bits / 8;
  const packed = isInteger ? checkBigInt64Array(given, "packed") : checkBytes(given, "packed");
  const length = arrayLength(packed) * (isInteger ? 8 : 1);
  if (length % size !== 0)
    throw new PolyflakeError("invalid_length", `expected a multiple of ${size} bytes, found ${length}`, {
      field: "packed",
    });
  const ids = byteRange(packed, 0, length);
  const columns = (kind: string): [string, Column][] =>
    fields
      .filter((field) => field.kind === kind)
      .map((field): [string, Column | undefined] => [field.name, columnOf(handle, field, ids, size)])
      .filter((column): column is [string, Column] => column[1] !== undefined);
  return {
    unixMs: columns("timestamp")[0]?.[1] as BigInt64Array | undefined,
    sequence: columns("sequence")[0]?.[1],
    bindables: Object.fromEntries(columns("bindable")),
    constants: Object.fromEntries(columns("constant")),
  };
}

/** Returns the column of one field, or undefined if the field has no column. */
function columnOf(
  handle: Handle,
  { name, kind, bits }: FieldDescription,
  ids: Uint8Array,
  size: number,
): Column | undefined {
  const m = handle.machine;
  const isNumber = kind !== "timestamp" && bits <= NUMBER_BITS;
  const column = new (isNumber ? Float64Array : BigInt64Array)(ids.length / size);
  const columnBytes = new Uint8Array(column.buffer);
  message.keep(0);
  message.length(ROLES[kind]!);
  message.name(name);
  // The field's role and name are the same for all batches, so the message keeps them. Each batch replaces only the IDs
  // that follow the name.
  const { length } = message.written;
  try {
    fillUp(columnBytes, 8, maxBatchSize(Math.max(size, 8)), (count, from) => {
      message.keep(length);
      message.raw(ids.subarray(from * size, (from + count) * size));
      message.put(m);
      m.numbers.set([count, from], register.count);
      m.numbers[register.value] = Number(isNumber);
      return handle.call("layoutColumn").bytes.subarray(0, count * 8);
    });
  } catch (error) {
    // The IDs have already been checked, so the error `invalid_type` means that the field's type does not support columns.
    if (error instanceof PolyflakeError && error.code === "invalid_type") return undefined;
    throw error;
  }
  return column;
}

/** Writes values, some of which are columns. */
class ColumnsWriter extends ValuesWriter {
  readonly #columns: { role: number; name: string; column: Column }[] = [];

  override field(role: number, name: string, value: unknown): void {
    if (isColumn(value)) this.#columns.push({ role, name, column: value });
    else super.field(role, name, value);
  }

  /** Returns the number of values in each column. */
  count(): number {
    const [first, ...others] = this.#columns;
    if (first === undefined) throw invalidType("a column at least", undefined, { field: "values" });
    const count = arrayLength(first.column);
    for (const { name, column } of others) {
      const found = arrayLength(column);
      if (found !== count)
        throw new PolyflakeError("invalid_length", `expected length ${count}, found ${found}`, { field: name });
    }
    for (const { name, column } of this.#columns) if (isNumbers(column)) rejectFractions(name, column);
    return count;
  }

  /** Writes the message with the single values and a part of each column. */
  part(from: number, to: number): void {
    message.keep(0);
    message.length(this.#columns.length);
    for (const { role, name, column } of this.#columns) {
      message.length(role);
      message.name(name);
      message.length(Number(isNumbers(column)));
      message.raw(byteRange(column, from * 8, (to - from) * 8));
    }
    message.raw(this.written);
  }
}

/** Rejects numbers that are not integers or that may have been rounded. */
function rejectFractions(field: string, column: Float64Array): void {
  const { buffer, byteOffset, length } = byteRange(column, 0, arrayLength(column) * 8);
  const item = new Float64Array(buffer, byteOffset, length / 8).findIndex((number) => !Number.isSafeInteger(number));
  if (item < 0) return;
  const found = "a fraction or a rounded number";
  throw new PolyflakeError("invalid_type", `item ${item}: expected an integer for \`${field}\`, found ${found}`, {
    field,
    item,
  });
}
