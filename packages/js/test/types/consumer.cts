// Checks that the package's types can be used from a CommonJS module.
import { backend, hotguid, PolyflakeError, randflake, sno } from "polyflake";
import * as decode from "polyflake/decode";

export const metabyte: number = decode.metabyte(sno.generate());
export const isNative: boolean = backend() === "native";
export const isPolyflakeError = (error: unknown): boolean => error instanceof PolyflakeError;
export const shardKey: number = hotguid.shardKey(hotguid.generate(7));
export const id: bigint = randflake.decodeText("1");
