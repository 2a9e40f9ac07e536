// Parses an ID. The bundle of this file must not contain any part of a backend.
import { sno } from "polyflake";

console.log(sno.parse("a7rdmuv326nct5if").metabyte);
