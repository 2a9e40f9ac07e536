import { load } from "#machine/sno";
import { onDemand } from "../machine.js";

declare module "../machine.js" {
  interface Ids {
    snoGenerate: string;
  }
}

/** The machine of this family. */
export const machine = /* @__PURE__ */ onDemand(load);
