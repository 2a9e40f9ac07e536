// A page under a content security policy. It stores its results for the test.
import { sno } from "polyflake";
import { metabyte } from "polyflake/decode";

function outcome(act) {
  try {
    return act();
  } catch ({ code, message }) {
    return `${code}: ${message}`;
  }
}

const ID = "a7rdmuv326nct5if";
globalThis.made = {
  decoded: outcome(() => metabyte(ID)),
  parsed: outcome(() => sno.parse(ID).metabyte),
  generated: outcome(() => sno.isValid(sno.generate())),
};
