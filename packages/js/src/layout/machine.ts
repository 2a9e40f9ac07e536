import { load } from "#machine/layout";
import { onDemand } from "../machine.js";

/** The machine of this family. Users choose the names of fields, so these stay as they are. */
export const machine = /* @__PURE__ */ onDemand(load, (field) => field);
