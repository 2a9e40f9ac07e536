import { load } from "#machine/sno";
import { onDemand } from "../machine.js";

declare module "../machine.js" {
  interface FamilyCalls {
    sno:
      | ("Texts" | "FromTexts" | "TimeRange")
      | ("Build" | "Generate" | "GenerateAt" | "TryGenerate" | "OneAsync" | "Fill" | "FillNow" | "Pool")
      | ("Partition" | "ExtendWindow" | "Stats" | "Close");
  }

  interface Ids {
    snoGenerate: string;
  }
}

/** The machine of this family. */
export const machine = /* @__PURE__ */ onDemand(load);
