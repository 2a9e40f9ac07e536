// Converts values and errors to the protocol's form.

import { PolyflakeError } from "#polyflake";

/** Returns a call's result or error in the protocol's form. */
export function outcome(call) {
  try {
    return { ok: call() ?? null };
  } catch (error) {
    if (error instanceof PolyflakeError) return { error: errorMembers(error) };
    return { error: { code: "unexpected", message: String(error?.stack ?? error) } };
  }
}

/** Returns the error properties that all languages provide. `JSON.stringify` omits undefined properties. */
function errorMembers({ code, position, retryAt, written }) {
  return { code, position, retry_at: retryAt === undefined ? undefined : String(retryAt), written };
}
