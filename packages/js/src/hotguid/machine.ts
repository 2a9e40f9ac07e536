import { load } from "#machine/hotguid";
import { onDemand } from "../machine.js";

declare module "../machine.js" {
  interface Ids {
    hotguidGenerate: string;
  }
}

/** The machine of this family. */
export const machine = /* @__PURE__ */ onDemand(load);
