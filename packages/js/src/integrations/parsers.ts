import { isObject } from "../checks.js";
import { type HotGuidId, parse as parseGuid } from "../decode/hotguid.js";
import { decodeText, type RandflakeId } from "../decode/randflake.js";
import type { SnoId } from "../decode/sno.js";
import { wordsOf } from "../decode/words.js";
import { invalidType, PolyflakeError } from "../errors.js";
import { members } from "../members.js";
import { metabyteAmong, metabytes } from "../metabytes.js";
import type { Issue, Schema } from "./standard.js";

/** Reads a parameter: returns its value, or throws a {@link PolyflakeError}. */
export type Parameter<T> = (text: string | undefined, name: string) => T;

/** The text of a parameter that must be there. */
function given(text: unknown, name: string): string {
  if (text === undefined)
    throw new PolyflakeError("missing_field", `missing value for field \`${name}\``, { field: name });
  // A query's parameter that is there twice is an array.
  if (typeof text !== "string") throw invalidType("one text", text, { field: name });
  return text;
}

/**
 * A sno's text.
 *
 * @param options With `metabyte` (0..255), the ID must carry it, or one of them.
 * @throws {PolyflakeError} `unknown_field`, `invalid_type`; `out_of_range` for a wrong metabyte, and for an empty list.
 */
export function snoId<const M extends number = number>(
  options: { metabyte?: M | readonly M[] } = {},
): Parameter<SnoId<M>> {
  const { metabyte } = members(options, "options", ["metabyte"]);
  const wanted = metabyte === undefined ? undefined : metabytes([metabyte].flat(), "metabyte");
  return (text, name) => {
    const id = given(text, name);
    if (wanted) metabyteAmong(wanted, id, name);
    else wordsOf(id, name);
    return id as SnoId<M>;
  };
}

/** A Hot Guid's text in either case; the value is in lower case. */
export function hotguidId(): Parameter<HotGuidId> {
  return (text, name) => parseGuid(given(text, name));
}

/** A Randflake's text; the value is its integer. */
export function randflakeId(): Parameter<RandflakeId> {
  return (text, name) => decodeText(given(text, name));
}

/**
 * An ID of a layout: the decimal text of an integer, or the hex of bytes in lower case; the value is the bigint or the bytes.
 *
 * ```js
 * const post = layoutId(layout.Layout.preset("twitter"));
 * ```
 *
 * @throws {PolyflakeError} `invalid_type` for a value without the schema of a layout.
 */
export function layoutId<Id>(layout: { readonly schema: Schema<unknown, Id> }): Parameter<Id> {
  const { validate } = schemaIn(layout)["~standard"];
  return (text, name) => {
    const { value, issues } = validate(given(text, name)) as { value: Id; issues?: readonly [Issue] };
    if (!issues) return value;
    const [{ code, message, position }] = issues;
    throw new PolyflakeError(code, message, position === undefined ? { field: name } : { field: name, position });
  };
}

function schemaIn<Id>(layout: { readonly schema: Schema<unknown, Id> }): Schema<unknown, Id> {
  const schema: unknown = isObject(layout) ? layout.schema : undefined;
  if (isObject(schema) && isObject((schema as Schema<unknown, Id>)["~standard"])) return schema as Schema<unknown, Id>;
  throw invalidType("layout", layout, { field: "layout" });
}

/** A parameter that may be absent. */
export function optional<T>(parameter: Parameter<T>): Parameter<T | undefined> {
  return (text, name) => (text === undefined ? undefined : parameter(text, name));
}
