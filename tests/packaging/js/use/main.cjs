// A CommonJS version of main.js.
console.log(require("./use.cjs").use());
