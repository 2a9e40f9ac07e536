// A page of one family, whose wasm is the only one beside the script.
import * as sno from "polyflake/web/sno";

sno.init().then(
  () => {
    document.title = sno.isValid(sno.generate()) ? "wasm" : "no ID";
  },
  (error) => {
    document.title = String(error);
  },
);
