/** The parts of one ID, each alone: what a goal leaves no room for is seen here, in the same run. */
import { sno } from "polyflake";
import { sno as inWasm } from "polyflake/wasm";
import { type Contest, ours, peer } from "./contest.js";

export function one(): Contest {
  const native = new sno.Generator({ partition: 6 });
  const wasm = new inWasm.Generator({ partition: 7 });
  return {
    name: "node: the parts of one ID",
    entries: [
      ours("a number asked of the addon", () => native.partition),
      ours("a number asked of wasm", () => wasm.partition),
      peer("Date.now", Date.now),
      peer("a bigint out of memory", bigintOf()),
      peer("16 characters out of memory", textOf()),
    ],
  };
}

/** Reads another integer of more than 32 bits at each call. */
function bigintOf(): () => bigint {
  const bigints = new BigInt64Array(2).map((_, k) => -(2n ** 60n) - BigInt(k));
  let turn = 0;
  return () => bigints[turn++ & 1]!;
}

/** Makes a string of 16 bytes, another one at each call, as the package does for one ID. */
function textOf(): () => string {
  const b = Uint8Array.from({ length: 16 }, (_, k) => 97 + k);
  return () => {
    b[15] = b[15]! ^ 1;
    return String.fromCharCode(
      b[0]!,
      b[1]!,
      b[2]!,
      b[3]!,
      b[4]!,
      b[5]!,
      b[6]!,
      b[7]!,
      b[8]!,
      b[9]!,
      b[10]!,
      b[11]!,
      b[12]!,
      b[13]!,
      b[14]!,
      b[15]!,
    );
  };
}
