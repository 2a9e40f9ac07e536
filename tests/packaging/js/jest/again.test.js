const { use } = require("./use.cjs");

const isPage = typeof document === "object";

test(`and in another file in ${isPage ? "jsdom" : "Node"}`, () => {
  expect(use()).toBe(isPage ? "wasm" : "native");
});
