// Exports for the browser's page.

export { answer } from "./ops.mjs";
