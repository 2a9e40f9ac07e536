import type { Init } from "../init.js";

/** The `init` function for backends that do not need to be opened. */
export const init: Init = async () => {};
