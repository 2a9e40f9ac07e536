// What the page in the browser can be asked.

export { answer } from "./ops.mjs";
