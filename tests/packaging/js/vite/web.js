// A page that uses one format, so its wasm file is the only one next to the script.
import * as sno from "polyflake/web/sno";

sno.init().then(
  () => {
    document.title = sno.isValid(sno.generate()) ? "wasm" : "no ID";
  },
  (error) => {
    document.title = String(error);
  },
);
