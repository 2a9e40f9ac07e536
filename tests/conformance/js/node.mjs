// Node: `--conditions=native` or `--conditions=wasm` chooses the package's machine (tests/package.json).

import { serve } from "./lines.mjs";
import { answer } from "./ops.mjs";

await serve((requests) => requests.map(answer));
