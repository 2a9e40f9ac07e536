// The driver for Node. `--conditions=native` or `--conditions=wasm` selects the package's backend (tests/package.json).

import { serve } from "./lines.mjs";
import { answer } from "./ops.mjs";

await serve((requests) => requests.map(answer));
