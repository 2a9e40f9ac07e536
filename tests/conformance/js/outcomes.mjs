// Values and errors in the protocol's form.

import { PolyflakeError } from "#polyflake";

/** The result or the error of a call. */
export function outcome(call) {
  try {
    return { ok: call() ?? null };
  } catch (error) {
    if (error instanceof PolyflakeError) return { error: members(error) };
    return { error: { code: "unexpected", message: String(error?.stack ?? error) } };
  }
}

/** The members of an error that all languages have; JSON leaves out undefined ones. */
function members({ code, position, retryAt, written }) {
  return { code, position, retry_at: retryAt === undefined ? undefined : String(retryAt), written };
}
