// A page under a content security policy. It stores its results for the test.
import { sno } from "polyflake";
import { metabyte } from "polyflake/decode";

function captureOutcome(act) {
  try {
    return act();
  } catch ({ code, message }) {
    return `${code}: ${message}`;
  }
}

const ID = "a7rdmuv326nct5if";
globalThis.made = {
  decoded: captureOutcome(() => metabyte(ID)),
  parsed: captureOutcome(() => sno.parse(ID).metabyte),
  generated: captureOutcome(() => sno.isValid(sno.generate())),
};
