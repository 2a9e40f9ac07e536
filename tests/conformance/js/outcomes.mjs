// Values and errors in the protocol's form.

import { PolyflakeError } from "#polyflake";

/** What a call gives or throws. */
export function outcome(call) {
  try {
    return { ok: call() ?? null };
  } catch (error) {
    if (error instanceof PolyflakeError) return { error: members(error) };
    return { error: { code: "unexpected", message: String(error?.stack ?? error) } };
  }
}

/** The members that all languages have; JSON leaves out what is undefined. */
function members({ code, position, retryAt, written }) {
  return { code, position, retry_at: retryAt === undefined ? undefined : String(retryAt), written };
}
