/**
 * Parameters of Hono that are IDs: a request with a wrong one is answered by the status 400 and a JSON object with the error's code.
 * Nothing of Hono is imported.
 *
 * ```js
 * import { optional, params, query, snoId } from "polyflake/hono";
 *
 * app.get("/people/:person/orders", params({ person: snoId({ metabyte: 1 }) }), query({ after: optional(snoId()) }), (c) =>
 *   c.json(ordersOf(c.req.valid("param").person, c.req.valid("query").after)),
 * );
 * // GET /people/short/orders: 400 {"code": "invalid_length", "field": "person", "message": "expected length 16, found 5"}
 * ```
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { type Parameters, read, type ValuesOf } from "./parameters.js";

export { type ErrorCode, PolyflakeError } from "../errors.js";
export type { Refusal } from "./parameters.js";
export * from "./parsers.js";

/** Texts of a request; the text of an optional parameter may be absent. */
type TextsOf<P extends Parameters> = {
  [K in keyof P as undefined extends ReturnType<P[K]> ? never : K]: string;
} & { [K in keyof P as undefined extends ReturnType<P[K]> ? K : never]?: string };

/** The variables and bindings of any program. */
// biome-ignore lint/suspicious/noExplicitAny: as in Hono's own middleware.
type Program = any;

/** Middleware that leaves the values of parameters for `c.req.valid`. */
type Reads<Target extends string, P extends Parameters> = MiddlewareHandler<
  Program,
  string,
  { in: Record<Target, TextsOf<P>>; out: Record<Target, ValuesOf<P>> }
>;

/** Reads parameters of the path: `c.req.valid("param")` has their values. */
export function params<const P extends Parameters>(parameters: P): Reads<"param", P> {
  return async (c, next) => {
    const found = read(parameters, c.req.param());
    if ("refusal" in found) return c.json(found.refusal, 400);
    c.req.addValidatedData("param", found.values);
    return next();
  };
}

/** Reads parameters of the query: `c.req.valid("query")` has their values. */
export function query<const P extends Parameters>(parameters: P): Reads<"query", P> {
  return async (c, next) => {
    const texts = Object.entries(c.req.queries()).map(([name, all]) => [name, all.length > 1 ? all : all[0]]);
    const found = read(parameters, Object.fromEntries(texts));
    if ("refusal" in found) return c.json(found.refusal, 400);
    c.req.addValidatedData("query", found.values);
    return next();
  };
}
