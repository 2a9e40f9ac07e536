// The answers of every JavaScript runtime to the conformance suite's requests (tests/README.md).

import * as sno from "./families/sno.mjs";
import { outcome } from "./outcomes.mjs";

const OPS = new Map(Object.entries({ sno: sno.OPS }));

/** The answer to a request. */
export function answer({ op, args }) {
  const [family, name = ""] = op.split(".");
  const ops = OPS.get(family) ?? {};
  return Object.hasOwn(ops, name) ? outcome(() => ops[name](args)) : { error: { code: "unknown_op" } };
}
