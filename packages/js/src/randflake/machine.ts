import { load } from "#machine/randflake";
import { onDemand } from "../machine.js";

declare module "../machine.js" {
  interface FamilyCalls {
    sparx64: "Build" | "Encrypt" | "Decrypt";
    randflake:
      | ("Grant" | "Inspect" | "Encrypt" | "Texts" | "FromTexts" | "CodecBuild")
      | ("Build" | "Generate" | "GenerateText" | "TryGenerate" | "OneAsync" | "Fill" | "FillNow" | "Pool")
      | ("HeldGrant" | "ExtendGrant" | "Stats" | "Close");
  }

  interface Ids {
    randflakeGenerate: bigint;
    randflakeGenerateText: string;
  }
}

/** The machine of this family, and of its cipher. */
export const machine = /* @__PURE__ */ onDemand(load);
