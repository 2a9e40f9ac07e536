/** Reads the JSON representation of a description, in which bigints are decimal strings. */
import { checkBoolean, checkString } from "../checks.js";
import { checkInteger } from "../decode/checks.js";
import type { Description, FieldDescription } from "../describe.js";
import { invalidType } from "../errors.js";
import { fields, members } from "../members.js";
import { bigintFromJson, withJson } from "../show.js";

const FIELD_KINDS = ["timestamp", "sequence", "constant", "bindable", "random", "unused"] as const;
const FLAGS = ["sortsByTime", "below2_53", "below2_63"] as const;
/** The members of the JSON representation that can be missing. */
const OPTIONAL_FIGURES = ["perSecond", "perSecondInAll", "firstMs", "lastMs"] as const;

/**
 * Restores the result of `describe` from its JSON representation.
 *
 * @throws {PolyflakeError} `missing_field` if a member is missing; `unknown_field` if there is an unexpected member;
 * `invalid_type` if a value has the wrong type. `field` names the member.
 */
export function descriptionFromJson(json: unknown): Description {
  const required = fields(json, "json", ["bits", "fields", ...FLAGS]);
  const given = members(json, "json", ["bits", "fields", ...FLAGS, ...OPTIONAL_FIGURES]);
  const [perSecond, perSecondInAll, firstMs, lastMs] = OPTIONAL_FIGURES.map((name) =>
    given[name] === undefined ? undefined : bigintFromJson(given[name], name),
  );
  const [sortsByTime, below2_53, below2_63] = FLAGS.map((name) => checkBoolean(required[name], name)) as [
    boolean,
    boolean,
    boolean,
  ];
  const bits = checkInteger(required.bits, "bits");
  return withJson({
    bits,
    fields: checkArray(required.fields).map(parseField),
    perSecond,
    perSecondInAll,
    firstMs,
    lastMs,
    sortsByTime,
    below2_53,
    below2_63,
  });
}

function checkArray(json: unknown): unknown[] {
  if (Array.isArray(json)) return json;
  throw invalidType("list", json, { field: "fields" });
}

function parseField(json: unknown): FieldDescription {
  const given = fields(json, "fields", ["name", "kind", "offset", "bits"], "rejected");
  const kind = FIELD_KINDS.find((kind) => kind === given.kind);
  if (kind === undefined) throw invalidType(FIELD_KINDS.join(", "), given.kind, { field: "kind" });
  return {
    name: checkString(given.name, "name"),
    kind,
    offset: checkInteger(given.offset, "offset"),
    bits: checkInteger(given.bits, "bits"),
  };
}
