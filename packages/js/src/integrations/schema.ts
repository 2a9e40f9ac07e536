/**
 * Schemas for IDs, for libraries that support Standard Schema, such as ArkType, tRPC, Hono and form libraries. The schemas
 * are plain JavaScript, without wasm. They are also available from `polyflake`, under the names `sno.schema`,
 * `randflake.schema` and so on.
 *
 * ```js
 * import { sno } from "polyflake/schema";
 *
 * sno["~standard"].validate("9afikjv326nct5if").value; // 9afikjv326nct5if
 * sno["~standard"].validate("9afikjv3").issues[0].code; // invalid_length
 * ```
 *
 * @module
 */
import { checkSigned } from "../decode/checks.js";
import { type HotGuidId, parse as parseHotGuid } from "../decode/hotguid.js";
import { decodeText, type RandflakeId } from "../decode/randflake.js";
import { type SnoId, withMetabyte } from "../decode/sno.js";
import { parse as parseUuid7, type Uuid7Id } from "../decode/uuid7.js";
import { parseWords } from "../decode/words.js";
import { invalidType } from "../errors.js";
import { checkMetabyte, checkMetabytes } from "../metabytes.js";
import { type Schema, schemaOf } from "./standard.js";

export { type ErrorCode, PolyflakeError } from "../errors.js";
export type { Issue, Result, Schema, Standard, ToJsonSchema } from "./standard.js";

/** The schema for sno IDs. */
export interface SnoSchema extends Schema<string, SnoId> {
  /**
   * Returns the schema for IDs with one of the given metabytes (0..255).
   *
   * ```js
   * const userId = sno.ofMetabyte(24);
   * ```
   *
   * @throws {PolyflakeError} `invalid_type` if a metabyte is not a number; `out_of_range` if a metabyte is out of range or the
   * list is empty.
   */
  readonly ofMetabyte: <M extends number>(...metabytes: M[]) => Schema<string, SnoId<M>>;
}

/** Returns the value if it is a string, and throws otherwise. */
function checkString(value: unknown): string {
  if (typeof value === "string") return value;
  throw invalidType("string", value);
}

const EXAMPLE = "9afikjv326nct5if";

/** The schema for encoded sno IDs. */
export const sno: SnoSchema = /* @__PURE__ */ (() => {
  const read = (value: unknown): SnoId => {
    parseWords(checkString(value), "text");
    return value as SnoId;
  };
  const texts = ["^[2-9a-x]{16}$", EXAMPLE] as const;
  return { ...schemaOf<string, SnoId>(read, texts, texts), ofMetabyte };
})();

function ofMetabyte<M extends number>(...given: M[]): Schema<string, SnoId<M>> {
  const wanted = checkMetabytes(given, "metabyte");
  const read = (value: unknown): SnoId<M> => {
    checkMetabyte(wanted, checkString(value), "text");
    return value as SnoId<M>;
  };
  const either = [...wanted].map(metabytePattern).join("|");
  const texts = [`^[2-9a-x]{8}(${either})[2-9a-x]{6}$`, withMetabyte(EXAMPLE, given[0]!)] as const;
  return schemaOf(read, texts, texts);
}

/**
 * Returns a regular expression that matches all IDs with the given metabyte. The upper 5 bits of the metabyte determine one
 * character, and its lower 3 bits are the upper bits of the next character.
 */
function metabytePattern(metabyte: number): string {
  const alphabet = "23456789abcdefghijklmnopqrstuvwx";
  const low = (metabyte & 7) * 4;
  return `${alphabet[metabyte >> 3]}[${alphabet.slice(low, low + 4)}]`;
}

/** The schema for Randflakes. It accepts IDs as encoded strings or as bigints. */
export const randflake: Schema<string | bigint, RandflakeId> = /* @__PURE__ */ schemaOf(
  (value) => (typeof value === "bigint" ? (checkSigned(value, "id") as RandflakeId) : decodeText(checkString(value))),
  ["^[0-9a-v]{1,13}$", "3vgoe12ccb8gh"],
);

/** The schema for Hot Guids as strings, in upper or lower case. The result is in lower case. */
export const hotguid: Schema<string, HotGuidId> = /* @__PURE__ */ schemaOf(
  (value) => parseHotGuid(checkString(value)),
  /* @__PURE__ */ uuidPatternAndExample("0-9A-Fa-f"),
  /* @__PURE__ */ uuidPatternAndExample("0-9a-f"),
);

/** The schema for version 7 UUIDs as strings, in upper or lower case. The result is in lower case. */
export const uuid7: Schema<string, Uuid7Id> = /* @__PURE__ */ schemaOf(
  (value) => parseUuid7(checkString(value)),
  /* @__PURE__ */ uuid7PatternAndExample("0-9A-Fa-f", "89ABab"),
  /* @__PURE__ */ uuid7PatternAndExample("0-9a-f", "89ab"),
);

function uuid7PatternAndExample(digits: string, variants: string): [pattern: string, example: string] {
  const pattern = `^[${digits}]{8}-[${digits}]{4}-7[${digits}]{3}-[${variants}][${digits}]{3}-[${digits}]{12}$`;
  return [pattern, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"];
}

function uuidPatternAndExample(digits: string): [pattern: string, example: string] {
  return [`^[${digits}]{8}(-[${digits}]{4}){3}-[${digits}]{12}$`, "691f29d0-bbaa-ddcc-ee01-0203ffffff7f"];
}
