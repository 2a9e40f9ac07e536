// Checks that an ID has the same type in CommonJS.
import { type SnoId, sno } from "polyflake";

export const commonSno: SnoId = sno.generate();
