import { load } from "#machine/randflake";
import type { RandflakeId, RandflakeText } from "../decode/randflake.js";
import { onDemand } from "../machine.js";

declare module "../machine.js" {
  interface Ids {
    randflakeGenerate: RandflakeId;
    randflakeGenerateText: RandflakeText;
  }
}

/** The machine of this family, and of its cipher. */
export const machine = /* @__PURE__ */ onDemand(load);
