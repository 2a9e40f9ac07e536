// The functions that the browser's page can call.

export { answer } from "./ops.mjs";
