import { load } from "#machine/hotguid";
import type { HotGuidId } from "../decode/hotguid.js";
import { onDemand } from "../machine.js";

declare module "../machine.js" {
  interface Ids {
    hotguidGenerate: HotGuidId;
  }
}

/** The machine of this family. */
export const machine = /* @__PURE__ */ onDemand(load);
