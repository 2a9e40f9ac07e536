import type { Init } from "../init.js";

/** The `init` of machines that need none. */
export const init: Init = async () => {};
