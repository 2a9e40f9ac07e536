import { type Description, descriptionOf } from "../describe.js";
import { machine } from "./machine.js";

/** What the format can do, in figures; the fields are those of the raw value, which only the secret shows. */
export function describe(): Description {
  return descriptionOf(machine(), "randflakeDescribe");
}
