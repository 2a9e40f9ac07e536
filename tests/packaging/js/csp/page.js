// A page under a content-security policy: what it has made is left for the test.
import { sno } from "polyflake";
import { metabyte } from "polyflake/decode";

function outcome(act) {
  try {
    return act();
  } catch ({ code, message }) {
    return `${code}: ${message}`;
  }
}

globalThis.made = { decoded: outcome(() => metabyte("a7rdmuv326nct5if")), generated: outcome(() => sno.isValid(sno.generate())) };
