// A page's script: the title says which machine runs.
import { use } from "./use.js";

document.title = use();
