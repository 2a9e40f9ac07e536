// Answers the conformance suite's requests in every JavaScript runtime (tests/README.md).

import * as polyflake from "#polyflake";

import * as hotguid from "./families/hotguid.mjs";
import * as layout from "./families/layout.mjs";
import * as publicIds from "./families/public.mjs";
import * as randflake from "./families/randflake.mjs";
import * as sno from "./families/sno.mjs";
import * as sparx64 from "./families/sparx64.mjs";
import * as uuid7 from "./families/uuid7.mjs";
import { outcome } from "./outcomes.mjs";
import { figures } from "./values.mjs";

const OPS = {
  sno: sno.OPS,
  sparx64: sparx64.OPS,
  randflake: randflake.OPS,
  hotguid: hotguid.OPS,
  layout: layout.OPS,
  public: publicIds.OPS,
  uuid7: uuid7.OPS,
  describe: { "": ({ family }) => figures(polyflake[family].describe()) },
};

/** Executes a request, and returns the answer. */
export function answer({ op, args }) {
  const [family, name = ""] = op.split(".");
  const ops = Object.hasOwn(OPS, family) ? OPS[family] : {};
  return Object.hasOwn(ops, name) ? outcome(() => ops[name](args)) : { error: { code: "unknown_op" } };
}
