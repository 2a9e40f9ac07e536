import { load } from "#machine/layout";
import { onDemand } from "../machine.js";

declare module "../machine.js" {
  interface FamilyCalls {
    layout:
      | ("Build" | "PresetBuild" | "Description" | "Describe" | "Pack" | "Parse" | "TimeRange" | "Column" | "PackColumns")
      | ("GeneratorBuild" | "Generate" | "TryGenerate" | "OneAsync" | "Fill" | "FillNow" | "Pool")
      | ("ExtendWindow" | "Stats" | "Close");
  }
}

/** The machine of this family. Names of fields are users' own, and stay as they are. */
export const machine = /* @__PURE__ */ onDemand(load, (field) => field);
