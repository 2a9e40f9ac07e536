// A page's script, which sets the title to the name of the backend.
import { use } from "./use.js";

document.title = use();
