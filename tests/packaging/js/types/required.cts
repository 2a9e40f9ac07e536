// Checks the types that a CommonJS module gets from `require`.
import polyflake = require("polyflake");
import decode = require("polyflake/decode");

export const kind: number = decode.metabyte(polyflake.sno.generate(7));
