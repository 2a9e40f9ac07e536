import { type Description, descriptionOf } from "../describe.js";
import { machine } from "./machine.js";

/** What the format can do, in figures; the fields are in the order of the text. */
export function describe(): Description {
  return descriptionOf(machine(), "hotguidDescribe");
}
