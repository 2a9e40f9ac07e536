// Node: `--conditions=native` or `--conditions=wasm` choose what the package runs on (tests/package.json).

import { serve } from "./lines.mjs";
import { answer } from "./ops.mjs";

await serve((requests) => requests.map(answer));
