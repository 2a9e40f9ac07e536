/**
 * Standard Schema and Standard JSON Schema (https://standardschema.dev). These interfaces let validation, form and routing
 * libraries accept each other's schemas. The types here have the same structure as those in `@standard-schema/spec` 1.1, which
 * is not a dependency.
 */
import { type ErrorCode, PolyflakeError } from "../errors.js";

/** A schema for IDs, for libraries that support Standard Schema. */
export interface Schema<Input, Output = Input> {
  /** The properties that Standard Schema and Standard JSON Schema define. */
  readonly "~standard": Standard<Input, Output>;
}

/** The interface through which libraries use a schema. */
export interface Standard<Input, Output> {
  /** The version of the Standard Schema interface. */
  readonly version: 1;
  /** The name of this package. */
  readonly vendor: "polyflake";
  /** The schema's types, which exist only for the compiler. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  /** Validates a value, and returns either the ID or the reason why the value is invalid. */
  readonly validate: (value: unknown) => Result<Output>;
  /** The JSON Schemas for the input and for the result. */
  readonly jsonSchema: { readonly input: ToJsonSchema; readonly output: ToJsonSchema };
}

/** The result of a validation. */
export type Result<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** The reason why a value is not an ID. */
export interface Issue {
  /** The error message. */
  readonly message: string;
  /** The stable error code. It is the same in every language binding. */
  readonly code: ErrorCode;
  /** The zero-based index of the first invalid character, in UTF-16 code units. */
  readonly position?: number;
}

/**
 * A function that returns the JSON Schema for a target: `draft-2020-12`, `draft-07` or `openapi-3.0`.
 *
 * @throws {PolyflakeError} `out_of_range` if the target is unknown; `invalid_type` if the IDs are bigints or bytes, which JSON
 * does not support.
 */
export type ToJsonSchema = (options: { readonly target: string }) => Record<string, unknown>;

/** A description of a format's encoded IDs: a regular expression that matches every encoded ID, and an example. */
export type PatternAndExample = readonly [pattern: string, example: string];

/**
 * Creates a schema from a function that converts a value to an ID or throws. `input` describes the encoded IDs that the schema
 * accepts. `output` describes the result, if it is a string.
 */
export function schemaOf<Input, Output>(
  read: (value: unknown) => Output,
  input: PatternAndExample,
  output?: PatternAndExample,
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

function toJsonSchema(texts: PatternAndExample | undefined): ToJsonSchema {
  return (options: { readonly target?: unknown } | undefined) => {
    if (!texts) throw new PolyflakeError("invalid_type", "expected string IDs, found bigints or bytes");
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
