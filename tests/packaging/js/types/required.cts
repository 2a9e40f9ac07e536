// The types of `require`.
import polyflake = require("polyflake");
import decode = require("polyflake/decode");

export const kind: number = decode.metabyte(polyflake.sno.generate(7));
