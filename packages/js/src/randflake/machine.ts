import { loadRandflake } from "#machine";
import { onDemand } from "../machine.js";

/** The machine of this family, and of its cipher. */
export const machine = /* @__PURE__ */ onDemand(loadRandflake);
