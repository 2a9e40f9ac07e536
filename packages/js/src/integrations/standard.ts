/**
 * Standard Schema and Standard JSON Schema (https://standardschema.dev), the interfaces by which libraries for validation, forms and
 * routes take each other's schemas. The types have the structure of those in `@standard-schema/spec` 1.1, which nothing here needs.
 */
import { type ErrorCode, PolyflakeError } from "../errors.js";

/** A schema of IDs, which libraries take that know Standard Schema. */
export interface Schema<Input, Output = Input> {
  /** The interface of Standard Schema and Standard JSON Schema. */
  readonly "~standard": Standard<Input, Output>;
}

/** The interface of a schema, for libraries. */
export interface Standard<Input, Output> {
  /** The version of the interface. */
  readonly version: 1;
  /** The name of this package. */
  readonly vendor: "polyflake";
  /** The types of the schema, for compilers alone. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  /** Reads a value: gives the ID, or the issue for which it is refused. */
  readonly validate: (value: unknown) => Result<Output>;
  /** The JSON Schema of what is read, and of the result. */
  readonly jsonSchema: { readonly input: ToJsonSchema; readonly output: ToJsonSchema };
}

/** The result of a validation. */
export type Result<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** The reason for which a value is no ID. */
export interface Issue {
  /** The message of the error. */
  readonly message: string;
  /** The stable code, the same string in every language. */
  readonly code: ErrorCode;
  /** The 0-based index of the first bad character, in UTF-16 units. */
  readonly position?: number;
}

/**
 * Returns the JSON Schema for a target: `draft-2020-12`, `draft-07` or `openapi-3.0`.
 *
 * @throws {PolyflakeError} `out_of_range` for another target; `invalid_type` for bigints and bytes, which JSON lacks.
 */
export type ToJsonSchema = (options: { readonly target: string }) => Record<string, unknown>;

/** The texts of IDs: a regular expression of all, and one of them. */
export type Texts = readonly [pattern: string, example: string];

/** The schema of a function that reads a value or throws; `output` is for results that are texts. */
export function schemaOf<Input, Output>(
  read: (value: unknown) => Output,
  input: Texts,
  output?: Texts,
): Schema<Input, Output> {
  const validate = (value: unknown): Result<Output> => {
    try {
      return { value: read(value) };
    } catch (error) {
      if (!(error instanceof PolyflakeError)) throw error;
      const { message, code, position } = error;
      return { issues: [{ message, code, ...(position === undefined ? {} : { position }) }] };
    }
  };
  const jsonSchema = { input: toJsonSchema(input), output: toJsonSchema(output) };
  return { "~standard": { version: 1, vendor: "polyflake", validate, jsonSchema } };
}

function toJsonSchema(texts: Texts | undefined): ToJsonSchema {
  return (options: { readonly target?: unknown } | undefined) => {
    if (!texts) throw new PolyflakeError("invalid_type", "expected IDs that are texts, found bigints or bytes");
    const [pattern, example] = texts;
    const target = options?.target;
    const isOpen = target === "openapi-3.0";
    if (isOpen || target === "draft-2020-12" || target === "draft-07")
      return { type: "string", pattern, ...(isOpen ? { example } : { examples: [example] }) };
    const found = typeof target === "string" ? target.slice(0, 40) : typeof target;
    const message = `expected draft-2020-12, draft-07 or openapi-3.0, found ${found}`;
    throw new PolyflakeError("out_of_range", message, { field: "target" });
  };
}
