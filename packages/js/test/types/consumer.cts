// The same package from CommonJS.
import { PolyflakeError, sno } from "polyflake";
import * as decode from "polyflake/decode";

export const metabyte: number = decode.metabyte(sno.generate());
export const isOurs = (error: unknown): boolean => error instanceof PolyflakeError;
