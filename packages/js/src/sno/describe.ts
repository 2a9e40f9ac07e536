import { type Description, descriptionOf } from "../describe.js";
import { machine } from "./machine.js";

/** What the format can do, in figures. */
export function describe(): Description {
  return descriptionOf(machine(), "snoDescribe");
}
