// An ID in CommonJS.
import { type SnoId, sno } from "polyflake";

export const commonSno: SnoId = sno.generate();
