// The answers of every JavaScript runtime to the conformance suite's requests (tests/README.md).

import * as ids from "./ids.mjs";
import { outcome } from "./outcomes.mjs";
import { trace } from "./trace.mjs";

const OPS = {
  "sno.parse": ids.parse,
  "sno.from_bytes": ids.fromBytes,
  "sno.from_parts": ids.fromParts,
  "sno.metabyte": ids.metabyte,
  "sno.with": ids.withFields,
  "sno.time_range": ids.timeRange,
  "sno.to_uuid": ids.toUuid,
  "sno.from_uuid": ids.fromUuid,
  "sno.json": ids.inJson,
  "sno.json_value": ids.jsonValue,
  "sno.to_json": ids.toJson,
  "sno.generate": ids.generate,
  "sno.generator": trace,
};

/** The answer to a request. */
export function answer({ op, args }) {
  return Object.hasOwn(OPS, op) ? outcome(() => OPS[op](args)) : { error: { code: "unknown_op" } };
}
