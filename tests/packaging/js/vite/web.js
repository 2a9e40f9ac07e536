// A page that uses one format, so only that format's wasm file is next to the script.
import * as sno from "polyflake/web/sno";

sno.init().then(
  () => {
    document.title = sno.isValid(sno.generate()) ? "wasm" : "no ID";
  },
  (error) => {
    document.title = String(error);
  },
);
