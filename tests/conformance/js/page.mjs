// Exports for the page in the browser.

export { answer } from "./ops.mjs";
