/** Reads the JSON representation of parsed IDs, in which bigints are decimal strings and bytes are hexadecimal strings. */

import type { FieldDescription } from "../describe.js";
import { invalidType, PolyflakeError } from "../errors.js";
import { entries, members } from "../members.js";
import { bigintFromJson, bytesFromJson } from "../show.js";
import type { Field } from "./description.js";
import type { Value, Values } from "./values.js";

const MEMBERS = ["unixMs", "timestamp", "sequence", "bindables", "constants"] as const;

/**
 * The values in the JSON representation of an ID, ready to be packed. The type of a field determines how a JSON string is
 * interpreted.
 */
export interface ParsedValues {
  timestamp: bigint | undefined;
  sequence: number | bigint | undefined;
  bindables: Values;
  constants: Values;
}

/**
 * Reads the values in a JSON representation without checking their sizes. `names` and `fields` both describe the layout's
 * fields, in the same order.
 */
export function valuesFromJson(
  json: unknown,
  names: readonly FieldDescription[],
  fields: readonly Field[],
): ParsedValues {
  const given = members(json, "json", MEMBERS);
  const types = new Map(names.map(({ name }, k) => [name, fieldType(fields[k]!)]));
  const named = (values: unknown, field: string): Values =>
    Object.fromEntries(entries(values, field).map(([name, value]) => [name, checkValue(value, types.get(name), name)]));
  return {
    timestamp: given.unixMs === undefined ? undefined : bigintFromJson(given.unixMs, "unixMs"),
    sequence: given.sequence === undefined ? undefined : integerOf(given.sequence, "sequence"),
    bindables: named(given.bindables, "bindables"),
    constants: named(given.constants, "constants"),
  };
}

function fieldType(field: Field): string {
  return ("type" in field ? field.type : undefined) ?? "integer";
}

/**
 * Reads a field's value from its JSON representation, according to the field's type. The layout rejects unknown names
 * later.
 */
function checkValue(value: unknown, type: string | undefined, field: string): Value {
  if (type === "bytes") return bytesFromJson(value, field);
  if (type === "integer") return integerOf(value, field);
  if (typeof value === "string" || typeof value === "number") return value;
  throw invalidType("text or number", value, { field });
}

/** Reads an integer from its JSON representation, which is a number or, for a field of more than 53 bits, a decimal string. */
function integerOf(value: unknown, field: string): number | bigint {
  if (typeof value !== "number") return bigintFromJson(value, field);
  if (Number.isSafeInteger(value)) return value;
  throw new PolyflakeError(
    "invalid_type",
    `expected an integer for \`${field}\`, found a fraction or a rounded number`,
    {
      field,
    },
  );
}
