/** Returns the reason why a statement failed. The code is null unless the database responded. */
export function failureOf(error: unknown): { code: string | null; message: string } {
  const { code, severity, message } = Object(error) as Record<string, unknown>;
  return { code: severity && typeof code === "string" ? code : null, message: String(message || (code ?? error)) };
}
