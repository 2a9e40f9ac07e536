import { load } from "#machine/sno";
import type { SnoId } from "../decode/sno.js";
import { onDemand } from "../machine.js";

declare module "../machine.js" {
  interface Ids {
    snoGenerate: SnoId<never>;
  }
}

/** The machine of this family. */
export const machine = /* @__PURE__ */ onDemand(load);
