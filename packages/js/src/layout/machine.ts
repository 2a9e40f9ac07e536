import { loadLayout } from "#machine";
import { onDemand } from "../machine.js";

/** The machine of this family. Names of fields are users' own, and stay as they are. */
export const machine = /* @__PURE__ */ onDemand(loadLayout, (field) => field);
