import type { PolyflakeError } from "../errors.js";
import type { Parameter } from "./parsers.js";

/** Parameters by name. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The values of parameters. */
export type ValuesOf<P extends Parameters> = { [K in keyof P]: ReturnType<P[K]> };

/** The answer to a request with a wrong parameter; its status is 400. */
export interface Refusal {
  /** The stable code. */
  code: string;
  /** The parameter. */
  field: string;
  /** The reason. */
  message: string;
  /** The 0-based index of the first bad character. */
  position?: number;
}

/** The values of parameters among those of a request, or the answer to the first wrong one. */
export function read<P extends Parameters>(
  parameters: P,
  request: Readonly<Record<string, unknown>>,
): { values: ValuesOf<P> } | { refusal: Refusal } {
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    try {
      values[name] = parameter(Object.hasOwn(request, name) ? (request[name] as string) : undefined, name);
    } catch (error) {
      if (!isOurs(error)) throw error;
      const { code, message, position } = error;
      return { refusal: { code, field: name, message, ...(position === undefined ? {} : { position }) } };
    }
  }
  return { values: values as ValuesOf<P> };
}

/** Returns `true` for an error of any copy of the package: ES modules and CommonJS have classes of their own. */
function isOurs(error: unknown): error is PolyflakeError {
  return error instanceof Error && error.name === "PolyflakeError";
}
