import { expect, test } from "vitest";
import { use } from "./use.js";

test("the package works", () => {
  expect(use()).toBe("native");
});
