// Node. Which machine the package loads, native addon or wasm, is the caller's to choose.

import { serve } from "./lines.mjs";
import { answer } from "./ops.mjs";

await serve((requests) => requests.map(answer));
