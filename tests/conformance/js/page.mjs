// The exports of the page in the browser.

export { answer } from "./ops.mjs";
