// main.js in CommonJS.
console.log(require("./use.cjs").use());
