import { load } from "#machine/layout";
import { onDemand } from "../machine.js";

declare module "../machine.js" {
  interface FamilyCalls {
    layout:
      | (
          | "Build"
          | "PresetBuild"
          | "Description"
          | "Describe"
          | "Pack"
          | "Parse"
          | "TimeRange"
          | "Column"
          | "PackColumns"
        )
      | ("GeneratorBuild" | "Generate" | "TryGenerate" | "OneAsync" | "Fill" | "FillNow" | "Pool")
      | ("ExtendWindow" | "Stats" | "Close");
  }
}

/** The machine of this family. Users choose the names of fields, so these stay as they are. */
export const machine = /* @__PURE__ */ onDemand(load, (field) => field);
