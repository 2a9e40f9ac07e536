// A Rollup configuration for Node builds that include the addon.
import commonjs from "@rollup/plugin-commonjs";
import { nodeResolve } from "@rollup/plugin-node-resolve";

export default {
  input: "main.js",
  plugins: [nodeResolve({ exportConditions: ["node"] }), commonjs()],
  external: /^node:/,
  output: { file: "out/native.mjs", format: "es" },
};
