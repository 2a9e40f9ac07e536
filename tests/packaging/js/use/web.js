// A page whose wasm file is stored next to the script.
import { backend, sno } from "polyflake/web";

sno.init().then(
  () => {
    document.title = sno.isValid(sno.generate()) ? backend() : "no ID";
  },
  (error) => {
    document.title = String(error);
  },
);
