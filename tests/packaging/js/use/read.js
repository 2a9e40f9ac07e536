// Reads an ID: nothing of a machine may be in the bundle.
import { sno } from "polyflake";

console.log(sno.parse("a7rdmuv326nct5if").metabyte);
