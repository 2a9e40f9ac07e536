import { load } from "#machine/hotguid";
import { onDemand } from "../machine.js";

declare module "../machine.js" {
  interface FamilyCalls {
    hotguid:
      | ("Texts" | "FromTexts" | "TimeRange")
      | ("Build" | "Provide" | "Generate" | "TryGenerate" | "OneAsync" | "Fill" | "FillNow" | "Pool")
      | ("ExtendWindow" | "Stats" | "Close");
  }

  interface Ids {
    hotguidGenerate: string;
  }
}

/** The machine of this family. */
export const machine = /* @__PURE__ */ onDemand(load);
