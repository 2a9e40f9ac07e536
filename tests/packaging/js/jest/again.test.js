const { use } = require("./use.cjs");

const isPage = typeof document === "object";

test(`the package works in a second test file in ${isPage ? "jsdom" : "Node"}`, () => {
  expect(use()).toBe(isPage ? "wasm" : "native");
});
