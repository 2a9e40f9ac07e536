import { loadSno } from "#machine";
import { onDemand } from "../machine.js";

/** The machine of this family. */
export const machine = /* @__PURE__ */ onDemand(loadSno);
