/**
 * Parameters of Express that are IDs: a request with a wrong one is answered by the status 400 and a JSON object with the error's
 * code. Works with Express 4 and 5, of which nothing is imported.
 *
 * ```js
 * import { optional, params, query, snoId } from "polyflake/express";
 *
 * app.get("/people/:person/orders", params({ person: snoId({ metabyte: 1 }) }), query({ after: optional(snoId()) }), (req, res) => {
 *   res.json(ordersOf(req.params.person, req.query.after));
 * });
 * // GET /people/short/orders: 400 {"code": "invalid_length", "field": "person", "message": "expected length 16, found 5"}
 * ```
 *
 * @module
 */
import { type Parameters, read, type ValuesOf } from "./parameters.js";

export { type ErrorCode, PolyflakeError } from "../errors.js";
export type { Refusal } from "./parameters.js";
export * from "./parsers.js";

/** The body of answers in any program. */
// biome-ignore lint/suspicious/noExplicitAny: programs give their answers types of their own, and a refusal fits none of them.
type Body = any;

/** The part of a response that is used. */
interface Response {
  status(code: number): { json(body: Body): unknown };
}

/** Reads parameters of the path: `req.params` has their values in the handlers that follow on the same path. */
export function params<P extends Parameters>(parameters: P) {
  return (req: { params: ValuesOf<P> }, res: Response, next: () => void): void => {
    const found = read(parameters, req.params);
    if ("refusal" in found) res.status(400).json(found.refusal);
    else {
      Object.assign(req.params, found.values);
      next();
    }
  };
}

/** Reads parameters of the query: `req.query` has their values in the handlers that follow, and the query's others as they are. */
export function query<P extends Parameters>(parameters: P) {
  return (req: { query: ValuesOf<P> }, res: Response, next: () => void): void => {
    const { query } = req;
    const found = read(parameters, query);
    if ("refusal" in found) {
      res.status(400).json(found.refusal);
      return;
    }
    // In Express 5 it is a getter, which reads the address anew each time.
    const value = { ...query, ...found.values };
    Object.defineProperty(req, "query", { value, configurable: true, enumerable: true, writable: true });
    next();
  };
}
