import { sno } from "polyflake";

/** Generates the IDs of the landing page. In a separate file, so that the other formats are left out of the bundle. */
export const generate = () => sno.generate(1);
