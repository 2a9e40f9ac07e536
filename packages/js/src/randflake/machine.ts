import { load } from "#machine/randflake";
import { onDemand } from "../machine.js";

declare module "../machine.js" {
  interface Ids {
    randflakeGenerate: bigint;
    randflakeGenerateText: string;
  }
}

/** The machine of this family, and of its cipher. */
export const machine = /* @__PURE__ */ onDemand(load);
